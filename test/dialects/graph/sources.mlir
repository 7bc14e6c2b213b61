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

// CHECK: graph.parameter @trained : tensor<4xf32> trained
graph.parameter @trained : tensor<4xf32> trained
// CHECK: graph.parameter @trained.momentum : tensor<4xf32> fill 0.000000e+00 of @trained
graph.parameter @trained.momentum : tensor<4xf32> fill 0.0 of @trained
// CHECK: graph.parameter @step : tensor<i64> fill 1.000000e+00
graph.parameter @step : tensor<i64> fill 1.0

// CHECK-LABEL: @a_step_of_training
func.func @a_step_of_training(%x: tensor<8x4xf32>) -> tensor<4xf32> {
  // CHECK: %[[ONE:.*]] = graph.loss_gradient : tensor<f32>
  %one = graph.loss_gradient : tensor<f32>
  %each = graph.mul %x, %one : tensor<8x4xf32>, tensor<f32>
  %part = graph.reduce sum %each over [0] : tensor<8x4xf32>
  // CHECK: graph.accumulate %{{.*}} sums : tensor<4xf32>
  %all = graph.accumulate %part sums : tensor<4xf32>
  // CHECK: graph.set_parameter @trained, %{{.*}} : tensor<4xf32>
  graph.set_parameter @trained, %all : tensor<4xf32>
  return %all : tensor<4xf32>
}
