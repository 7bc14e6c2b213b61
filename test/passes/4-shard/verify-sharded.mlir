// RUN: pcc-opt --verify-sharded %s | FileCheck %s

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

module attributes {dist.mesh = #dist.mesh<tp = 2>} {

// CHECK-LABEL: @consistent
func.func @consistent(%x: tensor<8xf32> {dist.sharding = #whole}) -> tensor<8xf32> {
  %0 = dist.reshard %x from #whole to #half {dist.shardings = [#half]}
      : tensor<8xf32> to tensor<8xf32>
  // CHECK: graph.relu
  %1 = graph.relu %0 {dist.shardings = [#half], dist.split = #half} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

}
