// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// Shardings are text inside quotes and get names at the top of the module.
// CHECK-DAG: #[[MESH:.*]] = #dist.mesh<mb = 4, dp = 2, tp = 2>
// CHECK-DAG: #[[ROWS:.*]] = #dist.sharding<"[8@tp:2, -]">
// CHECK-DAG: #[[WHOLE:.*]] = #dist.sharding<"[-, -]">
#rows = #dist.sharding<"[8@tp:2, -]">
#whole = #dist.sharding<"[-, -]">

// CHECK: module attributes {dist.mesh = #[[MESH]]}
module attributes {dist.mesh = #dist.mesh<mb = 4, dp = 2, tp = 2>} {

// Before 5-localize both types are global.
// CHECK-LABEL: @global_shapes
func.func @global_shapes(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  // CHECK: dist.reshard %{{.*}} from #[[ROWS]] to #[[WHOLE]] : tensor<8x4xf32> to tensor<8x4xf32>
  %y = dist.reshard %x from #rows to #whole : tensor<8x4xf32> to tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// CHECK-LABEL: @local_shapes
func.func @local_shapes(%x: tensor<4x4xf32>) -> tensor<8x4xf32> {
  // CHECK: dist.reshard %{{.*}} from #[[ROWS]] to #[[WHOLE]] shape [8, 4] : tensor<4x4xf32> to
  %y = dist.reshard %x from #rows to #whole shape [8, 4] : tensor<4x4xf32> to tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

}
