// RUN: pcc-opt --decide-shardings --insert-reshards --mlir-print-debuginfo --split-input-file %s \
// RUN:   | FileCheck %s

// Locations say what was decided, at which price, and what it would have cost otherwise.
// CHECK-LABEL: @rows_or_columns
// CHECK: dist.reshard {{.*}} loc(#[[CAUSE:.*]])
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["y=[-,-]"]} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @rows_or_columns(%x: tensor<8x64xf32> {graph.name = "x"})
      -> (tensor<8x64xf32> {graph.name = "y"}) {
    %a = graph.relu %x : tensor<8x64xf32>
    %w = graph.get_parameter @w : tensor<64x64xf32> loc("w")
    %y = graph.matmul %a, %w : tensor<8x64xf32>, tensor<64x64xf32> loc("node")
    return %y : tensor<8x64xf32>
  }
}
// CHECK-DAG: chosen = {{{.*}} steps = ["all_gather tp 2 1 1024"], what = "split 'w' as [-, tp]"}
// CHECK-DAG: steps = ["all_reduce tp 2 1 2048"], what = "split 'w' as [tp, -], leaving partial sums"}
// CHECK-DAG: refused = "'w' would be whole on every rank of tp, which has to divide it", what = "split nothing"}
// CHECK-DAG: #[[CAUSE]] = loc(fused<{dist.cause = {by = {decisions = {{.*}} node = "node", op = "matmul"}
// CHECK-DAG: uses = [{node = "y", op = "output", pin = "--shard 'y=[-,-]'"}]

// -----

// A requested sharding is marked where it holds; no other choice was considered there.
// CHECK-LABEL: @pinned
// CHECK-SAME: {dist.pinned = "--shard 'x=[t,-]'", dist.sharding = #{{.*}}, graph.name = "x"}
// CHECK: graph.get_parameter @w {dist.pinned = "--shard 'w=[-,-]'"
// CHECK: graph.transpose {{.*}} {dist.pinned = "--shard 'z=[-,-]'"
module attributes {dist.mesh = #dist.mesh<t = 2>, dist.seeds = ["x=[t,-]", "w=[-,-]", "z=[-,-]"]} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @pinned(%x: tensor<8x64xf32> {graph.name = "x"}) -> (tensor<8x64xf32>, tensor<64x64xf32>) {
    %w = graph.get_parameter @w : tensor<64x64xf32>
    %y = graph.matmul %x, %w : tensor<8x64xf32>, tensor<64x64xf32>
    %z = graph.transpose %w [1, 0] {graph.name = "z"} : tensor<64x64xf32>
    return %y, %z : tensor<8x64xf32>, tensor<64x64xf32>
  }
}
