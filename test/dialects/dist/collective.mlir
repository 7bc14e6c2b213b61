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

#rows = #dist.sharding<"[8@tp:2, -]">
#all = #dist.sharding<"[-, -]">

// Only rows that count travel, which masks of the 4 rows of a rank and 2 ranks, and of all 8 rows say.
// CHECK-LABEL: @rows
func.func @rows(%x: tensor<4x3xf32>, %asked: tensor<4x2xi1>, %wanted: tensor<8xi1>) -> tensor<8x3xf32> {
  // CHECK: dist.collective all_gather %arg0 rows(%arg1, %arg2 : tensor<4x2xi1>, tensor<8xi1>) from #split1 to #whole1
  %y = dist.collective all_gather %x rows(%asked, %wanted : tensor<4x2xi1>, tensor<8xi1>) from #rows to #all
      shape [8, 3] received 48 value "y" : tensor<4x3xf32> to tensor<8x3xf32>
  return %y : tensor<8x3xf32>
}
