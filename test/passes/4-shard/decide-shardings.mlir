// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

// Both weights of an MLP are divided, w1 by columns and w2 by rows: one reduction, of y.
// CHECK-LABEL: @megatron_mlp
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  graph.parameter @w1 : tensor<64x256xf32>
  graph.parameter @w2 : tensor<256x64xf32>
  func.func @megatron_mlp(%x: tensor<8x64xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x64xf32> {
    // CHECK: graph.get_parameter @w1 {{.*}}shardings = ["[-, 256@tp:2]"]
    %w1 = graph.get_parameter @w1 : tensor<64x256xf32>
    %h = graph.matmul %x, %w1 : tensor<8x64xf32>, tensor<64x256xf32>
    // CHECK: graph.relu {{.*}}shardings = ["[-, 256@tp:2]"]
    %a = graph.relu %h : tensor<8x256xf32>
    // CHECK: graph.get_parameter @w2 {{.*}}shardings = ["[256@tp:2, -]"]
    %w2 = graph.get_parameter @w2 : tensor<256x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -] partial sum(tp:2)"]
    %y = graph.matmul %a, %w2 : tensor<8x256xf32>, tensor<256x64xf32>
    // CHECK: dist.reshard {{.*}} from "[-, -] partial sum(tp:2)" to "[-, 64@tp:2]"
    // CHECK: dist.reshard {{.*}} from "[-, -]" to "[-, 64@tp:2]"
    // CHECK: graph.add {{.*}}shardings = ["[-, 64@tp:2]"]
    %z = graph.add %y, %x : tensor<8x64xf32>, tensor<8x64xf32>
    return %z : tensor<8x64xf32>
  }
}

// -----

// An axis of 4 is handed out in parts of 2, which end up on the same dims.
// CHECK-LABEL: @four_ranks
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  graph.parameter @w1 : tensor<64x256xf32>
  graph.parameter @w2 : tensor<256x64xf32>
  func.func @four_ranks(%x: tensor<8x64xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x64xf32> {
    // CHECK: graph.get_parameter @w1 {{.*}}shardings = ["[-, 256@tp:4]"]
    %w1 = graph.get_parameter @w1 : tensor<64x256xf32>
    %h = graph.matmul %x, %w1 : tensor<8x64xf32>, tensor<64x256xf32>
    // CHECK: graph.get_parameter @w2 {{.*}}shardings = ["[256@tp:4, -]"]
    %w2 = graph.get_parameter @w2 : tensor<256x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -] partial sum(tp:4)"]
    %y = graph.matmul %h, %w2 : tensor<8x256xf32>, tensor<256x64xf32>
    return %y : tensor<8x64xf32>
  }
}

// -----

// Ten columns over four ranks: parts of 3, 3, 3 and 1.
// CHECK-LABEL: @uneven_columns
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  graph.parameter @w : tensor<64x10xf32>
  func.func @uneven_columns(%x: tensor<8x64xf32>) -> (tensor<8x10xf32> {graph.name = "y"}) {
    %w = graph.get_parameter @w : tensor<64x10xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 10@tp:4]"]
    %y = graph.matmul %x, %w : tensor<8x64xf32>, tensor<64x10xf32>
    return %y : tensor<8x10xf32>
  }
}

// -----

// The batch may not be split, and along the dim that is softmaxed parts would have to talk: all ranks
// do the same.
// CHECK-LABEL: @nothing_worth_splitting
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @nothing_worth_splitting(%x: tensor<8x64xf32> {graph.batch_dim = 0 : i64})
      -> tensor<8x64xf32> {
    // CHECK: graph.softmax {{.*}}shardings = ["[-, -]"]
    %y = graph.softmax %x over 1 : tensor<8x64xf32>
    return %y : tensor<8x64xf32>
  }
}

// -----

// Scales of a norm follow the dims that it normalises. Splitting them does not pay here.
// CHECK-LABEL: @norm_weights_are_replicated
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  graph.parameter @scale : tensor<64xf32>
  func.func @norm_weights_are_replicated(%x: tensor<8x64xf32> {graph.batch_dim = 0 : i64})
      -> tensor<8x64xf32> {
    // CHECK: graph.get_parameter @scale {{.*}}shardings = ["[-]"]
    %s = graph.get_parameter @scale : tensor<64xf32>
    // CHECK: graph.rms_norm {{.*}}shardings = ["[-, -]"]
    %y = graph.rms_norm %x, %s from 1 epsilon 1.0e-05 : tensor<8x64xf32>, tensor<64xf32>
    return %y : tensor<8x64xf32>
  }
}

// -----

// Axes of another name may split anything. No element has to move here; the weight becomes smaller.
// CHECK-LABEL: @free_axis
module attributes {dist.mesh = #dist.mesh<x = 2>} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @free_axis(%x: tensor<8x64xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x64xf32> {
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 64@x:2]"]
    %y = graph.matmul %x, %w : tensor<8x64xf32>, tensor<64x64xf32>
    return %y : tensor<8x64xf32>
  }
}
