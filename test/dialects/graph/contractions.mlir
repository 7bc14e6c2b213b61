// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// Leading dims broadcast; an operand may be stored transposed.
// CHECK-LABEL: @matmul
func.func @matmul(%x: tensor<2x4x3xf32>, %y: tensor<5x3xf32>) -> tensor<2x4x5xf32> {
  // CHECK: graph.matmul %{{.*}}, %{{.*}} {transpose_rhs} : tensor<2x4x3xf32>, tensor<5x3xf32>
  %z = graph.matmul %x, %y {transpose_rhs} : tensor<2x4x3xf32>, tensor<5x3xf32>
  return %z : tensor<2x4x5xf32>
}

// A letter that the result lacks is summed over.
// CHECK-LABEL: @einsum
func.func @einsum(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<4x2xf32> {
  // CHECK: graph.einsum "ab,bc->ca" %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3x4xf32>
  %z = graph.einsum "ab,bc->ca" %x, %y : tensor<2x3xf32>, tensor<3x4xf32>
  return %z : tensor<4x2xf32>
}

// CHECK-LABEL: @conv
func.func @conv(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<1x6x4x4xf32> {
  // CHECK: graph.conv %{{.*}}, %{{.*}} {dilations = array<i64: 1, 1>, group = 2 : i64,
  // CHECK-SAME: pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
  %y = graph.conv %x, %w {dilations = array<i64: 1, 1>, group = 2 : i64,
      pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
      : tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>
  return %y : tensor<1x6x4x4xf32>
}

// CHECK-LABEL: @conv_transpose
func.func @conv_transpose(%x: tensor<1x2x4xf32>, %w: tensor<2x3x2xf32>) -> tensor<1x3x9xf32> {
  // CHECK: graph.conv_transpose %{{.*}}, %{{.*}} {dilations = array<i64: 1>,
  // CHECK-SAME: output_pads = array<i64: 1>, pads = array<i64: 0, 0>, strides = array<i64: 2>}
  %y = graph.conv_transpose %x, %w {dilations = array<i64: 1>, output_pads = array<i64: 1>,
      pads = array<i64: 0, 0>, strides = array<i64: 2>} : tensor<1x2x4xf32>, tensor<2x3x2xf32>
  return %y : tensor<1x3x9xf32>
}
