// RUN: pcc-opt --decide-shardings --expand-split-ops --insert-reshards --verify-sharded --localize-shapes \
// RUN:     --reshard-to-collectives --verify-local --split-input-file %s | %python %source/test/inline-aliases.py \
// RUN:   | FileCheck %s --implicit-check-not="received {{[1-9]}}"

// All collectives of statistics along a split dim with the bytes that one rank receives; nothing else
// is received. B=4 S=256 H=1024 on 4 ranks.

!rows = tensor<4x256x1024xbf16>

// Two sums per row, one after another.
// CHECK-LABEL: @norm_sums
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,-,t]", "y=[-,-,t]"]} {
  func.func @norm_sums(
      %x: !rows {graph.name = "x"}, %scale: tensor<1024xbf16> {graph.name = "scale"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1] received 6144{{ }}
    %y = graph.layer_norm %x, %scale from 2 epsilon 9.9999997473787516E-6 : !rows, tensor<1024xbf16>
    return %y : !rows
  }
}

// -----

!square = tensor<1024x1024xbf16>

// The maximum, then the first index that has it.
// CHECK-LABEL: @index_of_the_maximum
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]", "y=[-,-]"]} {
  func.func @index_of_the_maximum(
      %x: !square {graph.name = "x"})
      -> (tensor<1024x1xi64> {graph.name = "y"}) {
    // CHECK: all_reduce {{.*}} from "[-, -] partial max(t:4)" to "[-, -]"
    // CHECK-SAME: shape [1024, 1] received 3072{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -] partial min(t:4)" to "[-, -]"
    // CHECK-SAME: shape [1024, 1] received 6144{{ }}
    %y = graph.arg_reduce max %x over 1 keep : !square
    return %y : tensor<1024x1xi64>
  }
}

// -----

!rows = tensor<4x256x1024xf32>

// Two numbers per row forward, one backward.
// CHECK-LABEL: @softmax_gradients
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "x=[-,-,t]", "dy=[-,-,t]", "y=[-,-,t]", "dx=[-,-,t]"]} {
  func.func @softmax_gradients(
      %x: !rows {graph.name = "x"}, %dy: !rows {graph.name = "dy"})
      -> (!rows {graph.name = "y"}, !rows {graph.name = "dx"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial max(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1] received 6144{{ }}
    %y = graph.softmax %x over 2 : !rows
    %0 = graph.mul %dy, %y : !rows, !rows
    %1 = graph.reduce sum %0 over [2] keep : !rows
    %2 = graph.sub %dy, %1 : !rows, tensor<4x256x1xf32>
    %dx = graph.mul %y, %2 : !rows, !rows
    return %y, %dx : !rows, !rows
  }
}

// -----

!rows = tensor<4x256x1024xf32>
!row = tensor<4x256x1xf32>

// Two sums per row forward and two backward; those of scale and bias are local.
// CHECK-LABEL: @norm_gradients
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "x=[-,-,t]", "dy=[-,-,t]", "y=[-,-,t]", "dx=[-,-,t]", "scale=[t]", "dscale=[t]", "dbias=[t]"]} {
  func.func @norm_gradients(
      %x: !rows {graph.name = "x"}, %dy: !rows {graph.name = "dy"},
      %scale: tensor<1024xf32> {graph.name = "scale"})
      -> (!rows {graph.name = "y"}, !rows {graph.name = "dx"}, tensor<1024xf32> {graph.name = "dscale"},
          tensor<1024xf32> {graph.name = "dbias"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1] received 6144{{ }}
    %0 = graph.constant dense<9.99999974E-6> : tensor<f32>
    %1 = graph.reduce mean %x over [2] keep : !rows
    %2 = graph.mul %x, %x : !rows, !rows
    %3 = graph.reduce mean %2 over [2] keep : !rows
    %4 = graph.mul %1, %1 : !row, !row
    %5 = graph.sub %3, %4 : !row, !row
    %6 = graph.add %5, %0 : !row, tensor<f32>
    %7 = graph.sqrt %6 : !row
    %8 = graph.sub %x, %1 : !rows, !row
    %9 = graph.div %8, %7 : !rows, !row
    %y = graph.mul %9, %scale : !rows, tensor<1024xf32>
    %10 = graph.mul %dy, %scale : !rows, tensor<1024xf32>
    %11 = graph.mul %10, %9 : !rows, !rows
    %12 = graph.reduce mean %11 over [2] keep : !rows
    %13 = graph.mul %9, %12 : !rows, !row
    %14 = graph.reduce mean %10 over [2] keep : !rows
    %15 = graph.sub %10, %14 : !rows, !row
    %16 = graph.sub %15, %13 : !rows, !rows
    %dx = graph.div %16, %7 : !rows, !row
    %17 = graph.mul %dy, %9 : !rows, !rows
    %dscale = graph.reduce sum %17 over [0, 1] : !rows
    %dbias = graph.reduce sum %dy over [0, 1] : !rows
    return %y, %dx, %dscale, %dbias : !rows, !rows, tensor<1024xf32>, tensor<1024xf32>
  }
}

// -----

!rows = tensor<4x256x1024xf32>
!row = tensor<4x256x1xf32>

// Rows are whole: only the gradients of scale and bias are reduced.
// CHECK-LABEL: @norm_of_a_split_sequence
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "x=[-,t,-]", "dy=[-,t,-]", "y=[-,t,-]", "dx=[-,t,-]", "scale=[-]", "dscale=[-]", "dbias=[-]"]} {
  func.func @norm_of_a_split_sequence(
      %x: !rows {graph.name = "x"}, %dy: !rows {graph.name = "dy"},
      %scale: tensor<1024xf32> {graph.name = "scale"})
      -> (!rows {graph.name = "y"}, !rows {graph.name = "dx"}, tensor<1024xf32> {graph.name = "dscale"},
          tensor<1024xf32> {graph.name = "dbias"}) {
    // CHECK: all_reduce {{.*}} from "[-] partial sum(t:4)" to "[-]"
    // CHECK-SAME: shape [1024] received 6144{{ }}
    // CHECK: all_reduce {{.*}} from "[-] partial sum(t:4)" to "[-]"
    // CHECK-SAME: shape [1024] received 6144{{ }}
    %0 = graph.constant dense<9.99999974E-6> : tensor<f32>
    %1 = graph.reduce mean %x over [2] keep : !rows
    %2 = graph.mul %x, %x : !rows, !rows
    %3 = graph.reduce mean %2 over [2] keep : !rows
    %4 = graph.mul %1, %1 : !row, !row
    %5 = graph.sub %3, %4 : !row, !row
    %6 = graph.add %5, %0 : !row, tensor<f32>
    %7 = graph.sqrt %6 : !row
    %8 = graph.sub %x, %1 : !rows, !row
    %9 = graph.div %8, %7 : !rows, !row
    %y = graph.mul %9, %scale : !rows, tensor<1024xf32>
    %10 = graph.mul %dy, %scale : !rows, tensor<1024xf32>
    %11 = graph.mul %10, %9 : !rows, !rows
    %12 = graph.reduce mean %11 over [2] keep : !rows
    %13 = graph.mul %9, %12 : !rows, !row
    %14 = graph.reduce mean %10 over [2] keep : !rows
    %15 = graph.sub %10, %14 : !rows, !row
    %16 = graph.sub %15, %13 : !rows, !rows
    %dx = graph.div %16, %7 : !rows, !row
    %17 = graph.mul %dy, %9 : !rows, !rows
    %dscale = graph.reduce sum %17 over [0, 1] : !rows
    %dbias = graph.reduce sum %dy over [0, 1] : !rows
    return %y, %dx, %dscale, %dbias : !rows, !rows, tensor<1024xf32>, tensor<1024xf32>
  }
}
