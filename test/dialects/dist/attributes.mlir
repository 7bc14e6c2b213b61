// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// Every attribute that DistDiscardableAttrs.td declares, where it may stand.
#half = #dist.sharding<"[8@tp:2, -]">
#whole = #dist.sharding<"[-, -]">
#sums = #dist.sharding<"[-, -] partial sum(tp:2)">

// CHECK: module attributes
// CHECK-SAME: dist.experts = 2 : i64
// CHECK-SAME: dist.target = "cuda"
module attributes {
  dist.mesh = #dist.mesh<dp = 2, tp = 2>, dist.target = "cuda", dist.cluster = "links = []", dist.seeds = ["x=[tp,-]"],
  dist.presets = ["megatron"], dist.experts = 2 : i64, dist.divided = ["w"]} {

// CHECK: graph.parameter @w : tensor<8x4xf32> trained {dist.sharding = #{{.*}}}
graph.parameter @w : tensor<8x4xf32> trained {dist.sharding = #half}

// CHECK-LABEL: @on_values
func.func @on_values(
    %x: tensor<8x4xf32> {dist.global = tensor<8x4xf32>, dist.pinned = "--shard", dist.sharding = #half})
    -> (tensor<8x4xf32> {dist.global = tensor<8x4xf32>, dist.pinned = "--shard", dist.sharding = #whole}) {
  // CHECK: graph.relu {{.*}}dist.once_per_step, dist.ordered, dist.pinned = "--shard", dist.shardings = [#
  %y = graph.relu %x {dist.once_per_step, dist.ordered, dist.pinned = "--shard", dist.shardings = [#half],
                      dist.split = #sums, dist.through = array<i64: 0>, dist.windows = array<i64: 0>} : tensor<8x4xf32>
  // CHECK: graph.set_parameter @w, {{.*}}{dist.placement = #
  graph.set_parameter @w, %y {dist.placement = #half} : tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}
}
