// RUN: pcc-opt --decide-shardings --expand-split-ops --insert-reshards --verify-sharded --localize-shapes \
// RUN:     --reshard-to-collectives --verify-local --split-input-file %s | %python %source/test/inline-aliases.py \
// RUN:   | FileCheck %s --implicit-check-not="received {{[1-9]}}"

// All collectives of convolutions with the bytes that one rank receives; nothing else is received.
// 8x64x56x56 f32, 128 filters of 3x3, on 4 ranks.

!filters = tensor<128x64x3x3xf32>
!wide = tensor<8x128x56x56xf32>
!image = tensor<8x64x56x56xf32>

// Split rows need one row of each neighbour.
// CHECK-LABEL: @neighbours_send_a_row
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,-,t,-]", "y=[-,-,t,-]"]} {
  func.func @neighbours_send_a_row(
      %x: !image {graph.name = "x"}, %w: !filters {graph.name = "w"})
      -> (!wide {graph.name = "y"}) {
    // CHECK: exchange {{.*}} from "[-, -, 56@t:4, -]" to "[-, -, 64@t:4 view(4x16 by 14 of 56: 0..16 from -1), -]"
    // CHECK-SAME: shape [8, 64, 56, 56] received 229376{{ }}
    %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
        : !image, !filters
    return %y : !wide
  }
}

// -----

!filters2 = tensor<128x128x3x3xf32>
!filters = tensor<128x64x3x3xf32>
!wide = tensor<8x128x56x56xf32>
!image = tensor<8x64x56x56xf32>

// Filters are fewer bytes than either image: they are gathered.
// CHECK-LABEL: @filters_are_gathered
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "w1=[t,-,-,-]", "w2=[-,t,-,-]", "y=[-,-,-,-]"]} {
  func.func @filters_are_gathered(
      %x: !image {graph.name = "x"}, %w1: !filters {graph.name = "w1"},
      %w2: !filters2 {graph.name = "w2"})
      -> (!wide {graph.name = "y"}) {
    // CHECK: all_gather {{.*}} from "[128@t:4, -, -, -]" to "[-, -, -, -]"
    // CHECK-SAME: shape [128, 64, 3, 3] received 221184{{ }}
    // CHECK: all_gather {{.*}} from "[-, 128@t:4, -, -]" to "[-, -, -, -]"
    // CHECK-SAME: shape [128, 128, 3, 3] received 442368{{ }}
    %a = graph.conv %x, %w1 {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
        : !image, !filters
    %h = graph.relu %a : !wide
    %y = graph.conv %h, %w2 {dilations = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 1, 1>}
        : !wide, !filters2
    return %y : !wide
  }
}

// -----

!channel = tensor<1x64x1x1xf32>
!image = tensor<8x64x56x56xf32>

// Two sums per channel.
// CHECK-LABEL: @statistics_over_the_batch
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[t,-,-,-]", "y=[t,-,-,-]"]} {
  func.func @statistics_over_the_batch(%x: !image {graph.name = "x"}) -> (!image {graph.name = "y"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -, -] partial sum(t:4)" to "[-, -, -, -]"
    // CHECK-SAME: shape [1, 64, 1, 1] received 384{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -, -] partial sum(t:4)" to "[-, -, -, -]"
    // CHECK-SAME: shape [1, 64, 1, 1] received 384{{ }}
    %0 = graph.constant dense<9.99999974E-6> : tensor<f32>
    %squares = graph.mul %x, %x : !image, !image
    %mean = graph.reduce mean %x over [0, 2, 3] keep : !image
    %square = graph.reduce mean %squares over [0, 2, 3] keep : !image
    %mean2 = graph.mul %mean, %mean : !channel, !channel
    %variance = graph.sub %square, %mean2 : !channel, !channel
    %positive = graph.add %variance, %0 : !channel, tensor<f32>
    %deviation = graph.sqrt %positive : !channel
    %centred = graph.sub %x, %mean : !image, !channel
    %y = graph.div %centred, %deviation : !image, !channel
    return %y : !image
  }
}

// -----

!channel = tensor<1x64x1x1xf32>
!image = tensor<8x64x56x56xf32>

// With rows split as with the batch: two sums per channel forward, two backward.
// CHECK-LABEL: @statistics_over_rows
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "x=[-,-,t,-]", "dy=[-,-,t,-]", "y=[-,-,t,-]", "dx=[-,-,t,-]"]} {
  func.func @statistics_over_rows(
      %x: !image {graph.name = "x"}, %dy: !image {graph.name = "dy"},
      %scale: tensor<64x1x1xf32> {graph.name = "scale"})
      -> (!image {graph.name = "y"}, !image {graph.name = "dx"}, !channel {graph.name = "dscale"},
          !channel {graph.name = "dbias"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -, -] partial sum(t:4)" to "[-, -, -, -]"
    // CHECK-SAME: shape [1, 64, 1, 1] received 384{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -, -] partial sum(t:4)" to "[-, -, -, -]"
    // CHECK-SAME: shape [1, 64, 1, 1] received 384{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -, -] partial sum(t:4)" to "[-, -, -, -]"
    // CHECK-SAME: shape [1, 64, 1, 1] received 384{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -, -] partial sum(t:4)" to "[-, -, -, -]"
    // CHECK-SAME: shape [1, 64, 1, 1] received 384{{ }}
    %0 = graph.constant dense<2.508800e+04> : tensor<f32>
    %1 = graph.constant dense<9.99999974E-6> : tensor<f32>
    %2 = graph.reduce mean %x over [0, 2, 3] keep : !image
    %3 = graph.mul %x, %x : !image, !image
    %4 = graph.reduce mean %3 over [0, 2, 3] keep : !image
    %5 = graph.mul %2, %2 : !channel, !channel
    %6 = graph.sub %4, %5 : !channel, !channel
    %7 = graph.add %6, %1 : !channel, tensor<f32>
    %8 = graph.sqrt %7 : !channel
    %9 = graph.sub %x, %2 : !image, !channel
    %10 = graph.div %9, %8 : !image, !channel
    %y = graph.mul %10, %scale : !image, tensor<64x1x1xf32>
    %11 = graph.mul %dy, %10 : !image, !image
    %dscale = graph.reduce sum %11 over [0, 2, 3] keep : !image
    %dbias = graph.reduce sum %dy over [0, 2, 3] keep : !image
    %12 = graph.mul %10, %dscale : !image, !channel
    %13 = graph.add %12, %dbias : !image, !channel
    %14 = graph.div %13, %0 : !image, tensor<f32>
    %15 = graph.sub %dy, %14 : !image, !image
    %16 = graph.div %scale, %8 : tensor<64x1x1xf32>, !channel
    %dx = graph.mul %15, %16 : !image, !channel
    return %y, %dx, %dscale, %dbias : !image, !image, !channel, !channel
  }
}
