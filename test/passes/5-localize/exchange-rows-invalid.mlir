// RUN: pcc-opt %s --exchange-rows --split-input-file | FileCheck %s

// Rows that go to all ranks as before.

#rows = #dist.sharding<"[8@dp:2, -]">
#all = #dist.sharding<"[-, -]">
#partial = #dist.sharding<"[-, -] partial sum(dp:2)">

module attributes {dist.mesh = #dist.mesh<dp = 2>} {
  // A token may come back from every other rank.
  // CHECK-LABEL: @two_ranks
  // CHECK-NOT: rows(
  func.func @two_ranks(%x: tensor<4x3xf32>, %gate: tensor<8x2xf32>) -> tensor<4x3xf32> {
    %all = dist.collective all_gather %x from #rows to #all shape [8, 3] received 48 value "x" : tensor<4x3xf32> to tensor<8x3xf32>
    %token, %expert, %weight, %counts = graph.group_rows %gate chosen 1 : tensor<8x2xf32>
    %0 = graph.gather %all, %token along 0 : tensor<8x3xf32>, tensor<8xi64>
    %1 = graph.constant dense<0.0> : tensor<8x3xf32>
    %2 = graph.reshape %token : tensor<8xi64> to tensor<8x1xi64>
    %3 = graph.scatter_nd add %1, %2, %0 : tensor<8x3xf32>, tensor<8x1xi64>, tensor<8x3xf32>
    %4 = dist.collective reduce_scatter %3 from #partial to #rows shape [8, 3] received 48 value "y" : tensor<8x3xf32> to tensor<4x3xf32>
    return %4 : tensor<4x3xf32>
  }
}

// -----

#rows = #dist.sharding<"[8@dp:4, -]">
#all = #dist.sharding<"[-, -]">
#partial = #dist.sharding<"[-, -] partial sum(dp:4)">

module attributes {dist.mesh = #dist.mesh<dp = 4>} {
  // All tokens are read by others than experts, and the sums are not 0 where no expert was chosen.
  // CHECK-LABEL: @other_readers
  // CHECK-NOT: rows(
  func.func @other_readers(%x: tensor<2x3xf32>, %gate: tensor<8x2xf32>) -> (tensor<2x3xf32>, tensor<8x3xf32>) {
    %all = dist.collective all_gather %x from #rows to #all shape [8, 3] received 72 value "x" : tensor<2x3xf32> to tensor<8x3xf32>
    %token, %expert, %weight, %counts = graph.group_rows %gate chosen 1 : tensor<8x2xf32>
    %0 = graph.gather %all, %token along 0 : tensor<8x3xf32>, tensor<8xi64>
    %1 = graph.constant dense<0.0> : tensor<8x3xf32>
    %2 = graph.reshape %token : tensor<8xi64> to tensor<8x1xi64>
    %3 = graph.scatter_nd add %1, %2, %0 : tensor<8x3xf32>, tensor<8x1xi64>, tensor<8x3xf32>
    %4 = graph.exp %3 : tensor<8x3xf32>
    %5 = dist.collective reduce_scatter %4 from #partial to #rows shape [8, 3] received 72 value "y" : tensor<8x3xf32> to tensor<2x3xf32>
    %6 = graph.relu %all : tensor<8x3xf32>
    return %5, %6 : tensor<2x3xf32>, tensor<8x3xf32>
  }
}

// -----

#rows = #dist.sharding<"[8@dp:4, -]">
#all = #dist.sharding<"[-, -]">
#partial = #dist.sharding<"[-, -] partial sum(dp:4)">

module attributes {dist.mesh = #dist.mesh<dp = 4>} {
  // The sums come back by rows; the tokens, which others read as well, go out as before.
  // CHECK-LABEL: @only_back
  // CHECK-NOT: all_gather %{{.*}} rows(
  // CHECK: reduce_scatter %{{.*}} rows(
  func.func @only_back(%x: tensor<2x3xf32>, %gate: tensor<8x2xf32>) -> (tensor<2x3xf32>, tensor<8x3xf32>) {
    %all = dist.collective all_gather %x from #rows to #all shape [8, 3] received 72 value "x" : tensor<2x3xf32> to tensor<8x3xf32>
    %token, %expert, %weight, %counts = graph.group_rows %gate chosen 1 : tensor<8x2xf32>
    %0 = graph.gather %all, %token along 0 : tensor<8x3xf32>, tensor<8xi64>
    %1 = graph.constant dense<0.0> : tensor<8x3xf32>
    %2 = graph.reshape %token : tensor<8xi64> to tensor<8x1xi64>
    %3 = graph.scatter_nd add %1, %2, %0 : tensor<8x3xf32>, tensor<8x1xi64>, tensor<8x3xf32>
    %4 = dist.collective reduce_scatter %3 from #partial to #rows shape [8, 3] received 72 value "y" : tensor<8x3xf32> to tensor<2x3xf32>
    %5 = graph.relu %all : tensor<8x3xf32>
    return %4, %5 : tensor<2x3xf32>, tensor<8x3xf32>
  }
}

// -----

#rows = #dist.sharding<"[8@dp:4, -]">
#partial = #dist.sharding<"[-, -] partial sum(dp:4)">

module attributes {dist.mesh = #dist.mesh<dp = 4>} {
  // All sums have an addend, not only those of chosen experts.
  // CHECK-LABEL: @added_to_something
  // CHECK-NOT: rows(
  func.func @added_to_something(%x: tensor<8x3xf32>, %gate: tensor<8x2xf32>) -> tensor<2x3xf32> {
    %token, %expert, %weight, %counts = graph.group_rows %gate chosen 1 : tensor<8x2xf32>
    %0 = graph.gather %x, %token along 0 : tensor<8x3xf32>, tensor<8xi64>
    %1 = graph.reshape %token : tensor<8xi64> to tensor<8x1xi64>
    %2 = graph.scatter_nd add %x, %1, %0 : tensor<8x3xf32>, tensor<8x1xi64>, tensor<8x3xf32>
    %3 = dist.collective reduce_scatter %2 from #partial to #rows shape [8, 3] received 72 value "y" : tensor<8x3xf32> to tensor<2x3xf32>
    return %3 : tensor<2x3xf32>
  }
}
