// RUN: pcc-opt %s --exchange-rows --split-input-file | FileCheck %s

#rows = #dist.sharding<"[8@dp:4, -]">
#all = #dist.sharding<"[-, -]">
#partial = #dist.sharding<"[-, -] partial sum(dp:4)">

module attributes {dist.mesh = #dist.mesh<dp = 4>} {
  // Four ranks with two tokens and two experts each. A token that chose two experts comes back from two ranks at most, not from three.
  // CHECK-LABEL: @experts_take_their_tokens
  func.func @experts_take_their_tokens(%x: tensor<2x3xf32>, %gate: tensor<8x2xf32>, %w: tensor<2x3x3xf32>) -> tensor<2x3xf32> {
    // CHECK-NOT:  all_gather
    // CHECK:      %[[T:.*]], %{{.*}}, %{{.*}}, %{{.*}} = graph.group_rows %arg1
    // CHECK:      %[[Z:.*]] = graph.compare eq %arg1
    // CHECK:      %[[N:.*]] = graph.reduce sum %{{.*}} over [1] : tensor<8x2xf32>
    // CHECK:      %[[W:.*]] = graph.compare lt %[[N]], %{{.*}} : tensor<8xf32>, tensor<f32>
    // CHECK:      %[[A:.*]] = dist.collective all_to_all %{{.*}} from #{{.*}} to #{{.*}} shape [8,
    // CHECK-SAME:   4, 1] received 6 value "y rows"
    // CHECK-SAME: : tensor<8x1x1xi1> to tensor<2x4x1xi1>
    // CHECK:      %[[D:.*]] = graph.reshape %[[A]]
    // CHECK:      %[[X:.*]] = dist.collective all_gather %arg0 rows(%[[D]], %[[W]] : tensor<2x4xi1>, tensor<8xi1>)
    // CHECK-SAME: received 72
    // CHECK-NEXT: graph.gather %[[X]], %[[T]]
    // CHECK:      dist.collective reduce_scatter %{{.*}} rows(%[[D]], %[[W]] : tensor<2x4xi1>, tensor<8xi1>)
    // CHECK-SAME: received 48
    %all = dist.collective all_gather %x from #rows to #all shape [8, 3] received 72 value "x" : tensor<2x3xf32> to tensor<8x3xf32>
    %token, %expert, %weight, %counts = graph.group_rows %gate chosen 2 : tensor<8x2xf32>
    %0 = graph.gather %all, %token along 0 : tensor<8x3xf32>, tensor<16xi64>
    %1 = graph.grouped_matmul %0, %w by %counts : tensor<16x3xf32>, tensor<2x3x3xf32>, tensor<2xi64>
    %2 = graph.constant dense<0.0> : tensor<8x3xf32>
    %3 = graph.reshape %token : tensor<16xi64> to tensor<16x1xi64>
    %4 = graph.scatter_nd add %2, %3, %1 : tensor<8x3xf32>, tensor<16x1xi64>, tensor<16x3xf32>
    %5 = dist.collective reduce_scatter %4 from #partial to #rows shape [8, 3] received 72 value "y" : tensor<8x3xf32> to tensor<2x3xf32>
    return %5 : tensor<2x3xf32>
  }
}

// -----

#rows = #dist.sharding<"[-, 6@dp:4, -]">
#all = #dist.sharding<"[-, -, -]">
#partial = #dist.sharding<"[-, -, -] partial sum(dp:4)">

module attributes {dist.mesh = #dist.mesh<dp = 4>} {
  // Tokens of two dims, of which the second is divided unevenly, and sums in a wider type.
  // CHECK-LABEL: @tokens_of_two_dims
  func.func @tokens_of_two_dims(%x: tensor<2x2x4xf16>, %gate: tensor<12x2xf16>) -> tensor<2x2x4xf16> {
    // CHECK: %[[W:.*]] = graph.reshape %{{.*}} : tensor<12xi1> to tensor<2x6xi1>
    // CHECK: %[[A:.*]] = dist.collective all_to_all {{.*}} tensor<2x6x1x1xi1> to tensor<2x2x4x1xi1>
    // CHECK: %[[D:.*]] = graph.reshape %[[A]]
    // CHECK: all_gather %arg0 rows(%[[D]], %[[W]] : tensor<2x2x4xi1>, tensor<2x6xi1>)
    // CHECK: reduce_scatter %{{.*}} rows(%[[D]], %[[W]] : tensor<2x2x4xi1>, tensor<2x6xi1>)
    %all = dist.collective all_gather %x from #rows to #all shape [2, 6, 4] received 80 value "x" : tensor<2x2x4xf16> to tensor<2x6x4xf16>
    %token, %expert, %weight, %counts = graph.group_rows %gate chosen 1 : tensor<12x2xf16>
    %0 = graph.reshape %all : tensor<2x6x4xf16> to tensor<12x4xf16>
    %1 = graph.gather %0, %token along 0 : tensor<12x4xf16>, tensor<12xi64>
    %2 = graph.cast %1 : tensor<12x4xf16> to tensor<12x4xf32>
    %3 = graph.constant dense<0.0> : tensor<12x4xf32>
    %4 = graph.reshape %token : tensor<12xi64> to tensor<12x1xi64>
    %5 = graph.scatter_nd add %3, %4, %2 : tensor<12x4xf32>, tensor<12x1xi64>, tensor<12x4xf32>
    %6 = graph.cast %5 : tensor<12x4xf32> to tensor<12x4xf16>
    %7 = graph.reshape %6 : tensor<12x4xf16> to tensor<2x6x4xf16>
    %8 = dist.collective reduce_scatter %7 from #partial to #rows shape [2, 6, 4] received 80 value "y" : tensor<2x6x4xf16> to tensor<2x2x4xf16>
    return %8 : tensor<2x2x4xf16>
  }
}

// -----

#rows = #dist.sharding<"[8@dp:(1)3, -]">
#all = #dist.sharding<"[-, -]">
#partial = #dist.sharding<"[-, -] partial sum(dp:(1)3)">

module attributes {dist.mesh = #dist.mesh<dp = 6>} {
  // Tokens are divided over a part of the axis; along the other part ranks may have other experts, and want other tokens.
  // CHECK-LABEL: @other_experts_beside
  func.func @other_experts_beside(%x: tensor<3x3xf32>, %gate: tensor<8x2xf32>) -> tensor<3x3xf32> {
    // CHECK: dist.collective all_to_all %{{.*}} from #[[FROM:.*]] to #[[TO:.*]] shape [8, 3, 2] received 6
    %all = dist.collective all_gather %x from #rows to #all shape [8, 3] received 72 value "x" : tensor<3x3xf32> to tensor<8x3xf32>
    %token, %expert, %weight, %counts = graph.group_rows %gate chosen 1 : tensor<8x2xf32>
    %0 = graph.gather %all, %token along 0 : tensor<8x3xf32>, tensor<8xi64>
    %1 = graph.constant dense<0.0> : tensor<8x3xf32>
    %2 = graph.reshape %token : tensor<8xi64> to tensor<8x1xi64>
    %3 = graph.scatter_nd add %1, %2, %0 : tensor<8x3xf32>, tensor<8x1xi64>, tensor<8x3xf32>
    %4 = dist.collective reduce_scatter %3 from #partial to #rows shape [8, 3] received 72 value "y" : tensor<8x3xf32> to tensor<3x3xf32>
    return %4 : tensor<3x3xf32>
  }
}

// -----

#rows = #dist.sharding<"[8@dp:4, -]">
#all = #dist.sharding<"[-, -]">
#partial = #dist.sharding<"[-, -] partial sum(dp:4)">

module attributes {dist.mesh = #dist.mesh<dp = 4>, dist.target = "cuda"} {
  // No host looks at what GPUs have computed in the middle of a step: all tokens travel.
  // CHECK-LABEL: @all_tokens_between_gpus
  func.func @all_tokens_between_gpus(%x: tensor<2x3xf32>, %gate: tensor<8x2xf32>) -> tensor<2x3xf32> {
    // CHECK:     all_gather %arg0 from
    // CHECK-NOT: all_to_all
    // CHECK:     reduce_scatter %{{[^ ]+}} from
    %all = dist.collective all_gather %x from #rows to #all shape [8, 3] received 72 value "x" : tensor<2x3xf32> to tensor<8x3xf32>
    %token, %expert, %weight, %counts = graph.group_rows %gate chosen 1 : tensor<8x2xf32>
    %0 = graph.gather %all, %token along 0 : tensor<8x3xf32>, tensor<8xi64>
    %1 = graph.constant dense<0.0> : tensor<8x3xf32>
    %2 = graph.reshape %token : tensor<8xi64> to tensor<8x1xi64>
    %3 = graph.scatter_nd add %1, %2, %0 : tensor<8x3xf32>, tensor<8x1xi64>, tensor<8x3xf32>
    %4 = dist.collective reduce_scatter %3 from #partial to #rows shape [8, 3] received 72 value "y" : tensor<8x3xf32> to tensor<2x3xf32>
    return %4 : tensor<2x3xf32>
  }
}
