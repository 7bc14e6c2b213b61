// RUN: pcc-opt --verify-local %s | FileCheck %s

#columns = #dist.sharding<"[-, 8@tp:2]">
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  graph.parameter @w : tensor<4x8xf32>
  // CHECK-LABEL: @local
  func.func @local() -> tensor<4x4xf32> {
    // CHECK: graph.get_parameter @w {{.*}} : tensor<4x4xf32>
    %w = graph.get_parameter @w {dist.shardings = [#columns]} : tensor<4x4xf32>
    return %w : tensor<4x4xf32>
  }
}

#rows = #dist.sharding<"[8@tp:2, -]">
#columns_of_x = #dist.sharding<"[-, 8@tp:2]">
#whole = #dist.sharding<"[-, -]">
#sum = #dist.sharding<"[-, -] partial sum(tp:2)">

// A sum begins where ranks divide what is contracted, passes what is linear, padding that is hidden and a choice of two sums
// included, and ends where it is reduced. A mean divides by all elements.
// CHECK-LABEL: @partial_sums
func.func @partial_sums(%x: tensor<4x4xf32> {dist.sharding = #columns_of_x}, %w: tensor<4x6xf32> {dist.sharding = #rows},
                        %c: tensor<6x4xi1> {dist.sharding = #whole}) -> (tensor<6x4xf32>, tensor<4x1xf32>) {
  %0 = graph.matmul %x, %w {dist.shardings = [#sum]} : tensor<4x4xf32>, tensor<4x6xf32>
  %1 = graph.transpose %0 [1, 0] {dist.shardings = [#sum]} : tensor<4x6xf32>
  %2 = graph.add %1, %1 {dist.shardings = [#sum]} : tensor<6x4xf32>, tensor<6x4xf32>
  %3 = graph.constant {dist.shardings = [#dist.sharding<"[]">]} dense<0.0> : tensor<f32>
  %4 = graph.select %c, %2, %3 {dist.shardings = [#sum]} : tensor<6x4xi1>, tensor<6x4xf32>, tensor<f32>
  // CHECK: dist.collective all_reduce
  %both = graph.select %c, %4, %2 {dist.shardings = [#sum]} : tensor<6x4xi1>, tensor<6x4xf32>, tensor<6x4xf32>
  %5 = dist.collective all_reduce %both from #sum to #whole shape [6, 4] received 96 value "y" {dist.shardings = [#whole]}
      : tensor<6x4xf32> to tensor<6x4xf32>
  %6 = graph.relu %5 {dist.shardings = [#whole]} : tensor<6x4xf32>
  %7 = graph.reduce mean %x over [1] keep divisor 8 {dist.shardings = [#sum]} : tensor<4x4xf32>
  %8 = dist.collective all_reduce %7 from #sum to #whole shape [4, 1] received 16 value "m" {dist.shardings = [#whole]}
      : tensor<4x1xf32> to tensor<4x1xf32>
  return %6, %8 : tensor<6x4xf32>, tensor<4x1xf32>
}

#outer = #dist.sharding<"[-, 4@tp:(2)2] partial sum(tp:(1)2)">
#inner = #dist.sharding<"[4@tp:(2)2, -]">
#all = #dist.sharding<"[-, -] partial sum(tp:4)">

// The reductions that an operand still needs and those that begin here are over parts of one axis.
// CHECK-LABEL: @both_parts
func.func @both_parts(%x: tensor<4x2xf32> {dist.sharding = #outer}, %w: tensor<2x6xf32> {dist.sharding = #inner}) -> tensor<4x6xf32> {
  // CHECK: graph.matmul
  %0 = graph.matmul %x, %w {dist.shardings = [#all]} : tensor<4x2xf32>, tensor<2x6xf32>
  %1 = dist.collective all_reduce %0 from #all to #whole shape [4, 6] received 144 value "y" {dist.shardings = [#whole]}
      : tensor<4x6xf32> to tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

#channels = #dist.sharding<"[-, 6@tp:2, -]">
#filters = #dist.sharding<"[6@tp:2, -, -]">
#groups = #dist.sharding<"[-, 4@tp:2, -]">

// Two groups, one on each rank: channels are split, but none of their sums.
// CHECK-LABEL: @a_group_per_rank
func.func @a_group_per_rank(%x: tensor<1x3x4xf32> {dist.sharding = #channels},
                            %w: tensor<3x2x1xf32> {dist.sharding = #filters}) -> tensor<1x2x4xf32> {
  // CHECK: graph.conv_transpose
  %0 = graph.conv_transpose %x, %w {dist.shardings = [#groups], strides = array<i64: 1>, pads = array<i64: 0, 0>,
      dilations = array<i64: 1>, output_pads = array<i64: 0>} : tensor<1x3x4xf32>, tensor<3x2x1xf32>
  return %0 : tensor<1x2x4xf32>
}

#sent_columns = #dist.sharding<"[-, 4@tp:2]">
#sent_rows = #dist.sharding<"[4@tp:2, -]">
#sent_sum = #dist.sharding<"[-, -] partial sum(tp:2)">

// Behind 6-schedule, functions pass partial sums to each other.
// CHECK-LABEL: @stage_0_forward
func.func @stage_0_forward(%x: tensor<3x2xf32> {dist.sharding = #sent_columns}, %w: tensor<2x6xf32> {dist.sharding = #sent_rows}) -> tensor<3x6xf32>
    attributes {pipe.action = "F", pipe.stage = 0 : i64} {
  // CHECK: pipe.send
  %0 = graph.matmul %x, %w {dist.shardings = [#sent_sum]} : tensor<3x2xf32>, tensor<2x6xf32>
  pipe.send %0 to 1 value "y" : tensor<3x6xf32>
  return %0 : tensor<3x6xf32>
}

#rows_by_group = #dist.sharding<"[-, 8|2@dp:2, -]">
#row_of_results = #dist.sharding<"[-, 2@dp:2, -]">
#sum_of_rows = #dist.sharding<"[-, -, -] partial sum(dp:2)">

// The gradient of a filter for each channel: dim 1 of the operand holds the channels, then the rows of the batch, of which each
// rank has one.
// CHECK-LABEL: @one_row_of_each_group
func.func @one_row_of_each_group(%x: tensor<1x8x5xf32> {dist.sharding = #rows_by_group},
    %g: tensor<8x1x3xf32> {dist.sharding = #row_of_results}) {
  // CHECK: graph.conv
  %0 = graph.conv %x, %g {dilations = array<i64: 1>, dist.shardings = [#sum_of_rows], group = 8 : i64, pads = array<i64: 0, 0>,
      strides = array<i64: 1>} : tensor<1x8x5xf32>, tensor<8x1x3xf32>
  return
}

#channel_of_group = #dist.sharding<"[-, 2|2@tp:2, -]">
#filter_of_group = #dist.sharding<"[2|2@tp:2, -, -]">
#sum_of_channels = #dist.sharding<"[-, -, -] partial sum(tp:2)">

// The gradient of the data of two groups: dim 1 holds the groups, then the channels of a group, of which each rank has one.
// CHECK-LABEL: @one_channel_of_each_group
func.func @one_channel_of_each_group(%g: tensor<2x2x9xf32> {dist.sharding = #channel_of_group},
    %w: tensor<2x2x2xf32> {dist.sharding = #filter_of_group}) {
  // CHECK: graph.conv_transpose
  %0 = graph.conv_transpose %g, %w {dilations = array<i64: 1>, dist.shardings = [#sum_of_channels], group = 2 : i64,
      output_pads = array<i64: 0>, pads = array<i64: 0, 0>, strides = array<i64: 1>} : tensor<2x2x9xf32>, tensor<2x2x2xf32>
  return
}
