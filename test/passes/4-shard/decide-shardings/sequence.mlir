// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

!ids = tensor<2x32xi64>
!x = tensor<2x32x64xf32>
!q = tensor<2x32x8x8xf32>
!h = tensor<2x8x32x8xf32>
!w = tensor<64x64xf32>

// All ids are fewer bytes than keys and values, but then every rank would compute everything.
// CHECK-LABEL: @tokens_are_divided
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  graph.parameter @table : tensor<100x64xf32>
  graph.parameter @w : !w
  // CHECK-SAME: tensor<2x32xi64> {dist.sharding = {{.*}}"[-, 32@cp:2]"
  // CHECK-SAME: -> (tensor<2x8x32x8xf32> {dist.sharding = "[-, -, 32@cp:2, -]"
  func.func @tokens_are_divided(%ids: !ids {graph.batch_dim = 0 : i64, graph.sequence_dim = 1 : i64}) -> !h {
    %table = graph.get_parameter @table : tensor<100x64xf32>
    %x = graph.gather %table, %ids along 0 : tensor<100x64xf32>, !ids
    %w = graph.get_parameter @w : !w
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 32@cp:2, -]"]
    %0 = graph.matmul %x, %w : !x, !w
    %1 = graph.reshape %0 : !x to !q
    %k = graph.transpose %1 [0, 2, 1, 3] : !q
    // CHECK: dist.reshard {{.*}} from "[-, -, 32@cp:2, -]" to "[-, -, -, -]"
    %y = graph.attention %k, %k, %k {scale = 0.25 : f64} : !h, !h, !h
    return %y : !h
  }
}

// -----

!ids = tensor<2x32xi64>
!h = tensor<2x8x32x8xf32>
!m = tensor<2x1x1x32xi1>

// What inputs alone decide, here which keys are padding, lies as it is wanted: whole.
// CHECK-LABEL: @masks_are_free
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  graph.parameter @w : tensor<8x8xf32>
  // CHECK-SAME: %arg0: tensor<2x32xi64> {dist.sharding = {{.*}}"[-, -]"
  // CHECK-SAME: %arg1: tensor<2x8x32x8xf32> {dist.sharding = {{.*}}"[-, -, 32@cp:4, -]"
  func.func @masks_are_free(%mask: !ids {graph.sequence_dim = 1 : i64}, %x: !h {graph.sequence_dim = 2 : i64}) -> !h {
    %zero = graph.constant dense<0> : tensor<i64>
    // CHECK: graph.compare {{.*}}shardings = ["[-, -]"]
    %0 = graph.compare gt %mask, %zero : !ids, tensor<i64>
    %m = graph.reshape %0 : tensor<2x32xi1> to !m
    %w = graph.get_parameter @w : tensor<8x8xf32>
    %q = graph.matmul %x, %w : !h, tensor<8x8xf32>
    %y = graph.attention %q, %q, %q mask %m : !m, {scale = 0.25 : f64} : !h, !h, !h
    return %y : !h
  }
}

// -----

!x = tensor<32x64xf32>

// A table of positions belongs to the sequence where it meets it: each rank keeps its rows.
// CHECK-LABEL: @positions_belong_to_the_sequence
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  // CHECK-DAG: graph.get_parameter @positions {{.*}}shardings = ["[32@cp:2, -]"]
  graph.parameter @positions : !x
  func.func @positions_belong_to_the_sequence(%x: !x {graph.sequence_dim = 0 : i64}) -> !x {
    %p = graph.get_parameter @positions : !x
    %y = graph.add %x, %p : !x, !x
    return %y : !x
  }
}

// -----

!x = tensor<8x32x64xf32>

// What the user pins is as he pins it; the rest is divided.
// CHECK-LABEL: @pins_win
module attributes {dist.mesh = #dist.mesh<cp = 2>, dist.seeds = ["h=[-,-,-]"]} {
  graph.parameter @w : tensor<64x64xf32>
  // CHECK-SAME: %arg0: tensor<8x32x64xf32> {dist.sharding = {{.*}}"[-, 32@cp:2, -]"
  func.func @pins_win(%x: !x {graph.sequence_dim = 1 : i64}) -> !x {
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 32@cp:2, -]"]
    %y = graph.matmul %x, %w {graph.name = "h"} : !x, tensor<64x64xf32>
    // CHECK: dist.reshard {{.*}} from "[-, 32@cp:2, -]" to "[-, -, -]"
    // CHECK: graph.exp {{.*}}shardings = ["[-, 32@cp:2, -]"]
    %z = graph.exp %y : !x
    return %z : !x
  }
}

// -----

!h = tensor<2x8x32x8xf32>
!k = tensor<2x1x32x8xf32>

// Queries may be split although each sees only the keys before it.
// CHECK-LABEL: @causal_queries_are_split
module attributes {dist.mesh = #dist.mesh<cp = 4>} {
  func.func @causal_queries_are_split(%q: !h {graph.batch_dim = 0 : i64, graph.sequence_dim = 2 : i64}, %k: !k, %v: !k) -> !h {
    // CHECK: graph.attention {{.*}}causal{{.*}}shardings = ["[-, -, 32@cp:4, -]"]
    %y = graph.attention %q, %k, %v {causal, scale = 0.25 : f64} : !h, !k, !k
    return %y : !h
  }
}
