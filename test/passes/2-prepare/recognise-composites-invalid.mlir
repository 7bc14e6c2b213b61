// RUN: pcc-opt %s --recognise-composites --split-input-file | FileCheck %s

// Ops that resemble a composite, but compute something else.

// Without the maximum, large inputs overflow.
// CHECK-LABEL: @softmax_without_maximum
func.func @softmax_without_maximum(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NOT: graph.softmax
  %0 = graph.exp %x : tensor<2x4xf32>
  %1 = graph.reduce sum %0 over [1] keep : tensor<2x4xf32>
  %2 = graph.div %0, %1 : tensor<2x4xf32>, tensor<2x1xf32>
  return %2 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: @gelu_with_another_slope
func.func @gelu_with_another_slope(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: graph.gelu
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.erf %x : tensor<4xf32>
  %1 = graph.add %0, %one : tensor<4xf32>, tensor<f32>
  %2 = graph.mul %x, %1 : tensor<4xf32>, tensor<4xf32>
  %3 = graph.mul %2, %half : tensor<4xf32>, tensor<f32>
  return %3 : tensor<4xf32>
}

// -----

// The mean of the first dim normalises nothing behind it.
// CHECK-LABEL: @norm_of_the_first_dim
func.func @norm_of_the_first_dim(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NOT: graph.rms_norm
  %epsilon = graph.constant dense<1.0e-6> : tensor<f32>
  %0 = graph.mul %x, %x : tensor<2x4xf32>, tensor<2x4xf32>
  %1 = graph.reduce mean %0 over [0] keep : tensor<2x4xf32>
  %2 = graph.add %1, %epsilon : tensor<1x4xf32>, tensor<f32>
  %3 = graph.sqrt %2 : tensor<1x4xf32>
  %4 = graph.div %x, %3 : tensor<2x4xf32>, tensor<1x4xf32>
  return %4 : tensor<2x4xf32>
}

// -----

// A half of another tensor, and the wrong half negated.
// CHECK-LABEL: @rotary_of_two_tensors
func.func @rotary_of_two_tensors(%x: tensor<2x8xf32>, %cos: tensor<2x8xf32>, %sin: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK-NOT: graph.rotary
  %0 = graph.mul %x, %cos : tensor<2x8xf32>, tensor<2x8xf32>
  %a = graph.slice %x starts [0, 0] sizes [2, 4] steps [1, 1] : tensor<2x8xf32>
  %b = graph.slice %x starts [0, 4] sizes [2, 4] steps [1, 1] : tensor<2x8xf32>
  %1 = graph.neg %a : tensor<2x4xf32>
  %2 = graph.concat %1, %b along 1 : tensor<2x4xf32>, tensor<2x4xf32>
  %3 = graph.mul %2, %sin : tensor<2x8xf32>, tensor<2x8xf32>
  %4 = graph.add %0, %3 : tensor<2x8xf32>, tensor<2x8xf32>
  return %4 : tensor<2x8xf32>
}

// -----

// A mask that may hide a whole row: NaN here, zeros in attention.
// CHECK-LABEL: @rows_may_be_hidden
func.func @rows_may_be_hidden(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %keep: tensor<2x1x1x3xi1>) -> tensor<2x4x3x8xf32> {
  // CHECK-NOT: graph.attention
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %0 = graph.matmul %q, %k {transpose_rhs} : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>
  %1 = graph.select %keep, %0, %hidden : tensor<2x1x1x3xi1>, tensor<2x4x3x3xf32>, tensor<f32>
  %2 = graph.softmax %1 over 3 : tensor<2x4x3x3xf32>
  %3 = graph.matmul %2, %v : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>
  return %3 : tensor<2x4x3x8xf32>
}

// -----

// Here the mask is an input.
// CHECK-LABEL: @mask_is_an_input
func.func @mask_is_an_input(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %mask: tensor<2x1x1x3xf32>) -> tensor<2x4x3x8xf32> {
  // CHECK-NOT: graph.attention
  %0 = graph.matmul %q, %k {transpose_rhs} : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>
  %1 = graph.add %0, %mask : tensor<2x4x3x3xf32>, tensor<2x1x1x3xf32>
  %2 = graph.softmax %1 over 3 : tensor<2x4x3x3xf32>
  %3 = graph.matmul %2, %v : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>
  return %3 : tensor<2x4x3x8xf32>
}

// -----

// The weights are an output as well.
// CHECK-LABEL: @weights_are_needed
func.func @weights_are_needed(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x3xf32>) {
  // CHECK-NOT: graph.attention
  %0 = graph.matmul %q, %k {transpose_rhs} : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>
  %1 = graph.softmax %0 over 3 : tensor<2x4x3x3xf32>
  %2 = graph.matmul %1, %v : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>
  return %2, %1 : tensor<2x4x3x8xf32>, tensor<2x4x3x3xf32>
}

// -----

// The user has a sharding for the scores.
module attributes {dist.seeds = ["scores=[dp,tp,-,-]"]} {
  // CHECK-LABEL: @named_in_a_seed
  func.func @named_in_a_seed(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
    // CHECK-NOT: graph.attention
    %0 = graph.matmul %q, %k {graph.name = "scores", transpose_rhs} : tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>
    %1 = graph.softmax %0 over 3 : tensor<2x4x3x3xf32>
    %2 = graph.matmul %1, %v : tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>
    return %2 : tensor<2x4x3x8xf32>
  }
}

// -----

// Every token goes to all experts.
// CHECK-LABEL: @gates_of_a_softmax
func.func @gates_of_a_softmax(%p: tensor<6x4xf32>, %y: tensor<4x6x3xf32>) -> tensor<6x3xf32> {
  // CHECK-NOT: graph.chosen
  %0 = graph.softmax %p over 1 : tensor<6x4xf32>
  %1 = graph.einsum "te,etd->td" %0, %y : tensor<6x4xf32>, tensor<4x6x3xf32>
  return %1 : tensor<6x3xf32>
}

// -----

// The data of the scatter is not 0.
// CHECK-LABEL: @scattered_into_ones
func.func @scattered_into_ones(%i: tensor<6x1xi64>, %w: tensor<6x1xf32>, %y: tensor<4x6x3xf32>)
    -> tensor<6x3xf32> {
  // CHECK-NOT: graph.chosen
  %z = graph.constant dense<1.0> : tensor<6x4xf32>
  %0 = graph.scatter_elements set %z, %i, %w along 1
      : tensor<6x4xf32>, tensor<6x1xi64>, tensor<6x1xf32>
  %1 = graph.einsum "te,etd->td" %0, %y : tensor<6x4xf32>, tensor<4x6x3xf32>
  return %1 : tensor<6x3xf32>
}

// -----

// Four choices are as many as there are experts.
// CHECK-LABEL: @as_many_as_there_are
func.func @as_many_as_there_are(%h: tensor<6x4xi64>, %y: tensor<4x6x3xf32>) -> tensor<6x3xf32> {
  // CHECK-NOT: graph.chosen
  %one = graph.constant dense<1.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.one_hot %h, %one, %zero along 2
      : tensor<6x4xi64>, tensor<f32>, tensor<f32> to tensor<6x4x4xf32>
  %1 = graph.reduce sum %0 over [1] : tensor<6x4x4xf32>
  %2 = graph.einsum "te,etd->td" %1, %y : tensor<6x4xf32>, tensor<4x6x3xf32>
  return %2 : tensor<6x3xf32>
}
