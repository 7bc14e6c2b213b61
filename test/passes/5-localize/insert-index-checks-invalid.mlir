// RUN: pcc-opt --insert-index-checks --split-input-file %s | FileCheck %s

// Ops that get no check.

// A one_hot defines a result for indices out of range.
// CHECK-LABEL: @one_hot_is_defined
func.func @one_hot_is_defined(%i: tensor<2xi64>, %on: tensor<f32>, %off: tensor<f32>) -> tensor<2x5xf32> {
  // CHECK-NOT: graph.check_indices
  %y = graph.one_hot %i, %on, %off along 1 : tensor<2xi64>, tensor<f32>, tensor<f32> to tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// -----

// CHECK-LABEL: @no_indices
func.func @no_indices(%x: tensor<4x5xf32>, %i: tensor<0xi64>) -> tensor<0x5xf32> {
  // CHECK-NOT: graph.check_indices
  %y = graph.gather %x, %i along 0 : tensor<4x5xf32>, tensor<0xi64>
  return %y : tensor<0x5xf32>
}

// -----

// CHECK-LABEL: @constants_in_range
func.func @constants_in_range(%x: tensor<4x5xf32>) -> tensor<2xf32> {
  // CHECK-NOT: graph.check_indices
  %i = graph.constant dense<[[0, 4], [-4, -5]]> : tensor<2x2xi64>
  %y = graph.gather_nd %x, %i : tensor<4x5xf32>, tensor<2x2xi64>
  return %y : tensor<2xf32>
}
