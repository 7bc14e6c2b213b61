// RUN: pcc-opt %s --verify-diagnostics --split-input-file

func.func @dim_listed_twice(%x: tensor<2x3xf32>) {
  // expected-error @below {{permutation does not fit 'tensor<2x3xf32>'}}
  %y = graph.transpose %x [1, 1] : tensor<2x3xf32>
  return
}

// -----

func.func @reshape_that_loses_elements(%x: tensor<2x3xf32>) {
  // expected-error @below {{makes 'tensor<5xf32>' of 'tensor<2x3xf32>'}}
  %y = graph.reshape %x : tensor<2x3xf32> to tensor<5xf32>
  return
}

// -----

func.func @broadcast_of_three_to_four(%x: tensor<3xf32>) {
  // expected-error @below {{makes 'tensor<4xf32>' of 'tensor<3xf32>'}}
  %y = graph.broadcast %x : tensor<3xf32> to tensor<4xf32>
  return
}

// -----

func.func @slice_without_steps(%x: tensor<8xf32>) {
  // expected-error @below {{has a step of 0 for dim 0}}
  %y = graph.slice %x starts [6] sizes [1] steps [0] : tensor<8xf32>
  return
}

// -----

func.func @slice_beyond_the_end(%x: tensor<8xf32>) {
  // expected-error @below {{reads from 6 to 9 of dim 0 of 'tensor<8xf32>'}}
  %y = graph.slice %x starts [6] sizes [4] steps [1] : tensor<8xf32>
  return
}

// -----

func.func @joined_shapes_differ(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @below {{joins 'tensor<2x3xf32>' and 'tensor<1x3xf32>' along dim 1}}
  %z = graph.concat %x, %y along 1 : tensor<2x3xf32>, tensor<1x3xf32>
  return
}

// -----

func.func @constant_padding_of_nothing(%x: tensor<2xf32>) {
  // expected-error @below {{needs a value in mode constant, and in no other mode}}
  %y = graph.pad constant %x low [1] high [1] : tensor<2xf32>
  return
}

// -----

func.func @odd_halves(%x: tensor<4x3xf32>) {
  // expected-error @below {{rotates halves of the last dim of 'tensor<4x3xf32>', which is odd}}
  %y = graph.rotary %x, %x, %x : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>
  return
}

// -----

func.func @scales_of_another_rank(%x: tensor<1x2x4xf32>) {
  // expected-error @below {{with 1 scales}}
  %y = graph.resize linear %x {coordinates = "half_pixel", rounding = "floor",
      scales = array<f64: 2.0>} : tensor<1x2x4xf32> to tensor<1x2x8xf32>
  return
}

// -----

func.func @pads_with_another_type(%x: tensor<4xf32>, %v: tensor<i64>) {
  // expected-error @below {{mixes elements of 'tensor<4xf32>' and 'tensor<i64>'}}
  %y = graph.pad constant %x with %v : tensor<i64>, low [1] high [0] : tensor<4xf32>
  return
}

// -----

func.func @rotates_integers(%x: tensor<2x4xi64>, %t: tensor<4xi64>) {
  // expected-error @below {{is defined for floats only, got 'tensor<2x4xi64>'}}
  %y = graph.rotary %x, %t, %t : tensor<2x4xi64>, tensor<4xi64>, tensor<4xi64>
  return
}
