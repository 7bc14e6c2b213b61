// RUN: pcc-opt %s --verify-diagnostics --split-input-file

func.func @shapes_that_do_not_broadcast(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{operands do not broadcast: 'tensor<4xf32>' and 'tensor<3xf32>'}}
  %z = graph.add %x, %y : tensor<4xf32>, tensor<3xf32>
  return
}

// -----

func.func @two_element_types(%x: tensor<4xf32>, %y: tensor<4xf64>) {
  // expected-error @below {{operands have element types 'f32' and 'f64'}}
  %z = graph.mul %x, %y : tensor<4xf32>, tensor<4xf64>
  return
}

// -----

func.func @compared_types(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @below {{compares 'tensor<4xf32>' with 'tensor<4xi32>'}}
  %z = graph.compare eq %x, %y : tensor<4xf32>, tensor<4xi32>
  return
}

// -----

func.func @condition_of_numbers(%c: tensor<4xf32>, %x: tensor<4xf32>) {
  // expected-error @below {{condition has type 'tensor<4xf32>', not booleans}}
  %z = graph.select %c, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @cast_to_another_shape(%x: tensor<4xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %z = graph.cast %x : tensor<4xf32> to tensor<3xf16>
  return
}

// -----

func.func @random_from_narrow_counters(%i: tensor<4xi32>, %step: tensor<i64>) {
  // expected-error @below {{counts in 'tensor<4xi32>', not in i64}}
  %r = graph.random %i, %step key 0 : tensor<4xi32>, tensor<i64>
  return
}
