// RUN: pcc-opt %s | pcc-opt | FileCheck %s

#partial = #dist.sharding<"[-] partial sum(tp:2)">
#split = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

// CHECK-LABEL: @all_reduce_keeps_the_shape
func.func @all_reduce_keeps_the_shape(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: dist.collective all_reduce %{{.*}} from #partial to #whole shape [8] received 16
  // CHECK-SAME: value "y" : tensor<8xf32> to tensor<8xf32>
  %y = dist.collective all_reduce %x from #partial to #whole shape [8] received 16 value "y"
      : tensor<8xf32> to tensor<8xf32>
  return %y : tensor<8xf32>
}

// CHECK-LABEL: @reduce_scatter_divides_the_shape
func.func @reduce_scatter_divides_the_shape(%x: tensor<8xf32>) -> tensor<4xf32> {
  // CHECK: dist.collective reduce_scatter {{.*}} : tensor<8xf32> to tensor<4xf32>
  %y = dist.collective reduce_scatter %x from #partial to #split shape [8] received 16 value "y"
      : tensor<8xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
