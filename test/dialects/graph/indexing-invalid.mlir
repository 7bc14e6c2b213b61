// RUN: pcc-opt %s --verify-diagnostics --split-input-file

func.func @indices_of_floats(%x: tensor<8xf32>, %i: tensor<2xf32>) {
  // expected-error @below {{has indices of type 'tensor<2xf32>'}}
  %y = graph.gather %x, %i along 0 : tensor<8xf32>, tensor<2xf32>
  return
}

// -----

func.func @gather_along_no_dim(%x: tensor<8xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{names dim 1 of 'tensor<8xf32>'}}
  %y = graph.gather %x, %i along 1 : tensor<8xf32>, tensor<2xi64>
  return
}

// -----

func.func @elements_of_another_rank(%x: tensor<8x4xf32>, %i: tensor<8xi64>) {
  // expected-error @below {{picks from 'tensor<8x4xf32>' along dim 0 with indices 'tensor<8xi64>'}}
  %y = graph.gather_elements %x, %i along 0 : tensor<8x4xf32>, tensor<8xi64>
  return
}

// -----

func.func @tuples_longer_than_the_shape(%x: tensor<8xf32>, %i: tensor<3x2xi64>) {
  // expected-error @below {{picks from 'tensor<8xf32>' with index tuples}}
  %y = graph.gather_nd %x, %i : tensor<8xf32>, tensor<3x2xi64>
  return
}

// -----

func.func @updates_of_another_shape(%x: tensor<8xf32>, %i: tensor<2xi64>, %u: tensor<3xf32>) {
  // expected-error @below {{writes 'tensor<3xf32>' at 'tensor<2xi64>' into 'tensor<8xf32>'}}
  %y = graph.scatter_elements set %x, %i, %u along 0 : tensor<8xf32>, tensor<2xi64>, tensor<3xf32>
  return
}

// -----

func.func @slices_of_another_shape(%x: tensor<8x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3xf32>) {
  // expected-error @below {{writes 'tensor<3xf32>' at 'tensor<3x1xi64>' into 'tensor<8x4xf32>'}}
  %y = graph.scatter_nd set %x, %i, %u : tensor<8x4xf32>, tensor<3x1xi64>, tensor<3xf32>
  return
}

// -----

func.func @one_hot_of_another_rank(%i: tensor<2xi64>, %on: tensor<f32>) {
  // expected-error @below {{makes 'tensor<5xf32>' of indices 'tensor<2xi64>' with a new dim 0}}
  %y = graph.one_hot %i, %on, %on along 0
      : tensor<2xi64>, tensor<f32>, tensor<f32> to tensor<5xf32>
  return
}

// -----

func.func @one_hot_of_another_type(%i: tensor<2xi64>, %on: tensor<f32>) {
  // expected-error @below {{mixes elements of 'tensor<2x5xi64>' and 'tensor<f32>'}}
  %y = graph.one_hot %i, %on, %on along 1
      : tensor<2xi64>, tensor<f32>, tensor<f32> to tensor<2x5xi64>
  return
}

// -----

func.func @gathers_beyond_other_dims(%x: tensor<3x4xf32>, %i: tensor<5x4xi64>) {
  // expected-error @below {{picks from 'tensor<3x4xf32>' along dim 1 with indices}}
  %y = graph.gather_elements %x, %i along 1 : tensor<3x4xf32>, tensor<5x4xi64>
  return
}

// -----

func.func @gathers_in_another_batch(%x: tensor<2x4xf32>, %i: tensor<3x1xi64>) {
  // expected-error @below {{picks from 'tensor<2x4xf32>' with index tuples}}
  %y = graph.gather_nd %x, %i {batch_dims = 1 : i64} : tensor<2x4xf32>, tensor<3x1xi64>
  return
}

// -----

func.func @scatters_another_type(%x: tensor<4xf32>, %i: tensor<2x1xi64>, %u: tensor<2xi64>) {
  // expected-error @below {{mixes elements of 'tensor<4xf32>' and 'tensor<2xi64>'}}
  %y = graph.scatter_nd set %x, %i, %u : tensor<4xf32>, tensor<2x1xi64>, tensor<2xi64>
  return
}

// -----

func.func @scatters_beyond_other_dims(%x: tensor<3x4xf32>, %i: tensor<5x4xi64>, %u: tensor<5x4xf32>) {
  // expected-error @below {{into 'tensor<3x4xf32>'}}
  %y = graph.scatter_elements set %x, %i, %u along 1
      : tensor<3x4xf32>, tensor<5x4xi64>, tensor<5x4xf32>
  return
}

// -----

func.func @checks_tuples_of_another_length(%i: tensor<3x2xi64>) {
  // expected-error @below {{has 3 sizes for indices 'tensor<3x2xi64>'}}
  graph.check_indices %i below [4, 5, 6] of "cells" : tensor<3x2xi64>
  return
}
