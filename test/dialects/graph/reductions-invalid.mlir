// RUN: pcc-opt %s --verify-diagnostics --split-input-file

func.func @dims_out_of_order(%x: tensor<2x3xf32>) {
  // expected-error @below {{lists its dims out of order or twice}}
  %y = graph.reduce sum %x over [1, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @mean_position(%x: tensor<2x3xf32>) {
  // expected-error @below {{has no meaning for mean}}
  %y = graph.arg_reduce mean %x over 1 : tensor<2x3xf32>
  return
}

// -----

func.func @softmax_of_no_dim(%x: tensor<2x3xf32>) {
  // expected-error @below {{names dim 2 of 'tensor<2x3xf32>'}}
  %y = graph.softmax %x over 2 : tensor<2x3xf32>
  return
}

// -----

func.func @cumsum_of_no_dim(%x: tensor<2x3xf32>) {
  // expected-error @below {{names dim 5 of 'tensor<2x3xf32>'}}
  %y = graph.cumsum %x along 5 : tensor<2x3xf32>
  return
}

// -----

func.func @scale_of_another_shape(%x: tensor<2x8xf32>, %w: tensor<2xf32>) {
  // expected-error @below {{normalises 'tensor<2x8xf32>' from dim 1 with weights}}
  %y = graph.rms_norm %x, %w from 1 epsilon 1.0e-05 : tensor<2x8xf32>, tensor<2xf32>
  return
}

// -----

func.func @more_than_there_are(%x: tensor<2x3xf32>) {
  // expected-error @below {{asks for 4 of 3 elements}}
  %v, %i = graph.topk %x, 4 along 1 : tensor<2x3xf32>
  return
}

// -----

func.func @window_of_another_rank(%x: tensor<1x2x7xf32>) {
  // expected-error @below {{pools 'tensor<1x2x7xf32>' with a window of}}
  %y = graph.pool max %x {dilations = array<i64: 1>,
      pads = array<i64: 0, 0>, strides = array<i64: 2>, window = array<i64: 2, 2>}
      : tensor<1x2x7xf32>
  return
}

// -----

func.func @softmax_of_integers(%x: tensor<4xi64>) {
  // expected-error @below {{is defined for floats only, got 'tensor<4xi64>'}}
  %y = graph.softmax %x over 0 : tensor<4xi64>
  return
}

// -----

func.func @norm_with_integer_weights(%x: tensor<2x4xf32>, %w: tensor<4xi32>) {
  // expected-error @below {{is defined for floats only, got 'tensor<4xi32>'}}
  %y = graph.layer_norm %x, %w from 1 epsilon 1.0e-05 : tensor<2x4xf32>, tensor<4xi32>
  return
}

// -----

func.func @topk_of_no_dim(%x: tensor<2x3xf32>) {
  // expected-error @below {{names dim -1 of 'tensor<2x3xf32>'}}
  %v, %i = graph.topk %x, 1 along -1 : tensor<2x3xf32>
  return
}

// -----

func.func @topk_of_fewer_than_none(%x: tensor<2x3xf32>) {
  // expected-error @below {{asks for -3 of 3 elements}}
  %v, %i = graph.topk %x, -3 along 1 : tensor<2x3xf32>
  return
}

// -----

func.func @pool_that_does_not_fit(%x: tensor<1x2x2xf32>) {
  // expected-error @below {{a window of [5] with dilations [1] does not fit 'tensor<1x2x2xf32>' with pads [1, 1]}}
  %y = graph.pool max %x {dilations = array<i64: 1>, pads = array<i64: 1, 1>,
                          strides = array<i64: 2>, window = array<i64: 5>} : tensor<1x2x2xf32>
  return
}

// -----

func.func @pool_without_steps(%x: tensor<1x2x8xf32>) {
  // expected-error @below {{must be at least 1, got window [2], strides [0] and dilations [1]}}
  %y = graph.pool max %x {dilations = array<i64: 1>, pads = array<i64: 0, 0>,
                          strides = array<i64: 0>, window = array<i64: 2>} : tensor<1x2x8xf32>
  return
}
