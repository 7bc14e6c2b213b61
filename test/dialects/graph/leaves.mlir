// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// A weight names a file, an offset and a length, and how the stored tensor becomes the logical one.
// CHECK: graph.parameter @w : tensor<3x4xf32> =
// CHECK-SAME: <"model.bin", 128, 48, tensor<4x3xf32>, [#graph.permute<[1, 0]>]>
graph.parameter @w : tensor<3x4xf32>
    = #graph.weight<"model.bin", 128, 48, tensor<4x3xf32>, [#graph.permute<[1, 0]>]>

// All transforms: half of the rows, as a vector, in another type.
// CHECK: graph.parameter @half : tensor<6xf16> =
// CHECK-SAME: [#graph.slice<0, 2, 2, 1>, #graph.reshape<[6]>, #graph.cast<f16>]>
graph.parameter @half : tensor<6xf16>
    = #graph.weight<"model.bin", 0, 48, tensor<4x3xf32>,
        [#graph.slice<0, 2, 2, 1>, #graph.reshape<[6]>, #graph.cast<f16>]>

// Without a reference the weight is made at run time; a buffer is never trained.
// CHECK: graph.parameter @generated : tensor<4xf32>
graph.parameter @generated : tensor<4xf32>
// CHECK: graph.parameter @mean : tensor<4xf32> buffer
graph.parameter @mean : tensor<4xf32> buffer

// CHECK-LABEL: @a_weight_is_a_reference
func.func @a_weight_is_a_reference() -> tensor<3x4xf32> {
  // CHECK: graph.get_parameter @w : tensor<3x4xf32>
  %w = graph.get_parameter @w : tensor<3x4xf32>
  return %w : tensor<3x4xf32>
}

// CHECK-LABEL: @a_constant
func.func @a_constant() -> tensor<2xf32> {
  // CHECK: graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %c = graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  return %c : tensor<2xf32>
}

// CHECK-LABEL: @an_index
func.func @an_index() -> tensor<2x3xi64> {
  // CHECK: graph.iota 1 : tensor<2x3xi64>
  %i = graph.iota 1 : tensor<2x3xi64>
  return %i : tensor<2x3xi64>
}
