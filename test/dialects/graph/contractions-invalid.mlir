// RUN: pcc-opt %s --verify-diagnostics --split-input-file

func.func @contracted_dims_differ(%x: tensor<4x3xf32>, %y: tensor<2x5xf32>) {
  // expected-error @below {{contracted dims 3 and 2}}
  %z = graph.matmul %x, %y : tensor<4x3xf32>, tensor<2x5xf32>
  return
}

// -----

func.func @product_of_vectors(%x: tensor<3xf32>, %y: tensor<3x5xf32>) {
  // expected-error @below {{multiplies 'tensor<3xf32>' by 'tensor<3x5xf32>': both need two dims}}
  %z = graph.matmul %x, %y : tensor<3xf32>, tensor<3x5xf32>
  return
}

// -----

func.func @equation_without_result(%x: tensor<3xf32>) {
  // expected-error @below {{equation 'ab' is not of the form 'ab,bc->ac'}}
  %z = graph.einsum "ab" %x : tensor<3xf32>
  return
}

// -----

func.func @equation_of_another_rank(%x: tensor<3xf32>) {
  // expected-error @below {{operands do not fit the equation 'ab->a'}}
  %z = graph.einsum "ab->a" %x : tensor<3xf32>
  return
}

// -----

func.func @channels_of_no_group(%x: tensor<1x4x8xf32>, %w: tensor<6x3x3xf32>) {
  // expected-error @below {{in 2 groups: channels do not fit}}
  %y = graph.conv %x, %w {dilations = array<i64: 1>, group = 2 : i64, pads = array<i64: 1, 1>,
                          strides = array<i64: 1>} : tensor<1x4x8xf32>, tensor<6x3x3xf32>
  return
}

// -----

func.func @strides_of_another_rank(%x: tensor<1x2x4xf32>, %w: tensor<2x3x2xf32>) {
  // expected-error @below {{ranks and attributes do not fit}}
  %y = graph.conv_transpose %x, %w {dilations = array<i64: 1>, output_pads = array<i64: 0>,
      pads = array<i64: 0, 0>, strides = array<i64: 2, 2>} : tensor<1x2x4xf32>, tensor<2x3x2xf32>
  return
}

// -----

func.func @einsum_of_two_types(%a: tensor<2xf32>, %b: tensor<2xf64>) {
  // expected-error @below {{mixes elements of 'tensor<2xf32>' and 'tensor<2xf64>'}}
  %y = graph.einsum "a,a->" %a, %b : tensor<2xf32>, tensor<2xf64>
  return
}

// -----

func.func @convolves_integers(%x: tensor<1x1x4xi64>, %w: tensor<1x1x2xi64>) {
  // expected-error @below {{is defined for floats only, got 'tensor<1x1x4xi64>'}}
  %y = graph.conv %x, %w {dilations = array<i64: 1>, group = 1 : i64,
      pads = array<i64: 0, 0>, strides = array<i64: 1>} : tensor<1x1x4xi64>, tensor<1x1x2xi64>
  return
}

// -----

func.func @conv_that_does_not_fit(%x: tensor<1x1x4x4xf32>, %w: tensor<1x1x3x3xf32>) {
  // expected-error @below {{a window of [3, 3] with dilations [1, 2] does not fit 'tensor<1x1x4x4xf32>' with pads [0, 0, 0, 0]}}
  %y = graph.conv %x, %w {dilations = array<i64: 1, 2>, group = 1 : i64, pads = array<i64: 0, 0, 0, 0>,
                          strides = array<i64: 1, 1>} : tensor<1x1x4x4xf32>, tensor<1x1x3x3xf32>
  return
}

// -----

func.func @conv_without_steps(%x: tensor<1x1x8xf32>, %w: tensor<1x1x3xf32>) {
  // expected-error @below {{strides and dilations must be at least 1, got strides [0] and dilations [1]}}
  %y = graph.conv %x, %w {dilations = array<i64: 1>, group = 1 : i64, pads = array<i64: 1, 1>,
                          strides = array<i64: 0>} : tensor<1x1x8xf32>, tensor<1x1x3xf32>
  return
}

// -----

func.func @outputs_of_no_group(%x: tensor<1x4x8xf32>, %w: tensor<5x2x3xf32>) {
  // expected-error @below {{in 2 groups: channels do not fit}}
  %y = graph.conv %x, %w {dilations = array<i64: 1>, group = 2 : i64, pads = array<i64: 1, 1>,
                          strides = array<i64: 1>} : tensor<1x4x8xf32>, tensor<5x2x3xf32>
  return
}
