// RUN: pcc-opt --decide-shardings --split-input-file %s | %python %source/test/inline-aliases.py | FileCheck %s

// Each rank of dp stores a part of a weight that all would hold; its readers get the whole weight. A bias stays whole.
// CHECK-LABEL: @fsdp
module attributes {dist.mesh = #dist.mesh<dp = 4>, dist.presets = ["fsdp"]} {
  graph.parameter @w : tensor<16x6xf32>
  graph.parameter @b : tensor<6xf32>
  func.func @fsdp(%x: tensor<8x16xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x6xf32> {
    // CHECK: get_parameter @w {{.*}}shardings = ["[16@dp:4, -]"]
    %w = graph.get_parameter @w : tensor<16x6xf32>
    // CHECK: get_parameter @b {{.*}}shardings = ["[-]"]
    %b = graph.get_parameter @b : tensor<6xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[8@dp:4, -]"]
    %y = graph.matmul %x, %w : tensor<8x16xf32>, tensor<16x6xf32>
    %z = graph.add %y, %b : tensor<8x6xf32>, tensor<6xf32>
    return %z : tensor<8x6xf32>
  }
}

// -----

// Behind what tp splits of it: the gather over dp brings one run. Only what is named, if nothing is named for all.
// CHECK-LABEL: @divided
module attributes {dist.mesh = #dist.mesh<dp = 2, tp = 2>, dist.divided = ["v"]} {
  graph.parameter @v : tensor<16x64xf32>
  graph.parameter @w : tensor<64x16xf32>
  func.func @divided(%x: tensor<8x16xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x16xf32> {
    // CHECK: get_parameter @v {{.*}}shardings = ["[16@dp:2, 64@tp:2]"]
    %v = graph.get_parameter @v : tensor<16x64xf32>
    %h = graph.matmul %x, %v : tensor<8x16xf32>, tensor<16x64xf32>
    // CHECK: get_parameter @w {{.*}}shardings = ["[64@tp:2, -]"]
    %w = graph.get_parameter @w : tensor<64x16xf32>
    %y = graph.matmul %h, %w : tensor<8x64xf32>, tensor<64x16xf32>
    return %y : tensor<8x16xf32>
  }
}

// -----

// By columns, then by rows, although the other order receives less here: 8 rows of 4 are fewer than 8 of 64.
// CHECK-LABEL: @megatron
module attributes {dist.mesh = #dist.mesh<tp = 4>, dist.presets = ["megatron"]} {
  graph.parameter @v : tensor<64x4xf32>
  graph.parameter @w : tensor<4x64xf32>
  func.func @megatron(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
    // CHECK: get_parameter @v {{.*}}shardings = ["[-, 4@tp:4]"]
    %v = graph.get_parameter @v : tensor<64x4xf32>
    %h = graph.matmul %x, %v : tensor<8x64xf32>, tensor<64x4xf32>
    %a = graph.relu %h : tensor<8x4xf32>
    // CHECK: get_parameter @w {{.*}}shardings = ["[4@tp:4, -]"]
    %w = graph.get_parameter @w : tensor<4x64xf32>
    %y = graph.matmul %a, %w : tensor<8x4xf32>, tensor<4x64xf32>
    return %y : tensor<8x64xf32>
  }
}

// -----

// Between rows and columns every rank has a part of the sequence.
// CHECK-LABEL: @sequence
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.presets = ["megatron", "sequence"]} {
  graph.parameter @v : tensor<8x32xf32>
  graph.parameter @w : tensor<32x8xf32>
  graph.parameter @u : tensor<8x32xf32>
  func.func @sequence(%x: tensor<2x16x8xf32> {graph.batch_dim = 0 : i64, graph.sequence_dim = 1 : i64}) -> tensor<2x16x32xf32> {
    %v = graph.get_parameter @v : tensor<8x32xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -, 32@tp:2]"]
    %h = graph.matmul %x, %v : tensor<2x16x8xf32>, tensor<8x32xf32>
    %w = graph.get_parameter @w : tensor<32x8xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -, -] partial sum(tp:2)"]
    %y = graph.matmul %h, %w : tensor<2x16x32xf32>, tensor<32x8xf32>
    // CHECK: graph.tanh {{.*}}shardings = ["[-, 16@tp:2, -]"]
    %t = graph.tanh %y : tensor<2x16x8xf32>
    %u = graph.get_parameter @u : tensor<8x32xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -, 32@tp:2]"]
    %z = graph.matmul %t, %u : tensor<2x16x8xf32>, tensor<8x32xf32>
    return %z : tensor<2x16x32xf32>
  }
}

// -----

// A value that the user pins keeps its sharding.
// CHECK-LABEL: @pinned
module attributes {dist.mesh = #dist.mesh<dp = 2>, dist.presets = ["zero3"], dist.seeds = ["w=[-,-]"]} {
  graph.parameter @w : tensor<16x6xf32>
  func.func @pinned(%x: tensor<8x16xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x6xf32> {
    // CHECK: get_parameter @w {{.*}}shardings = ["[-, -]"]
    %w = graph.get_parameter @w : tensor<16x6xf32>
    %y = graph.matmul %x, %w : tensor<8x16xf32>, tensor<16x6xf32>
    return %y : tensor<8x6xf32>
  }
}
