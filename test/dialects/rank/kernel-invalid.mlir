// RUN: pcc-opt %s --split-input-file --verify-diagnostics

func.func @unknown_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{launches @missing, which is not a kernel}}
  %y = rank.launch @missing(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-note @below {{kernel defined here}}
rank.kernel @same(%x: tensor<4xf32>) -> tensor<4xf32> {
  rank.yield %x : tensor<4xf32>
}

func.func @another_type(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @below {{has type '(tensor<3xf32>) -> tensor<3xf32>' != '(tensor<4xf32>) -> tensor<4xf32>'}}
  %y = rank.launch @same(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// -----

rank.kernel @another_result(%x: tensor<4xf32>) -> tensor<3xf32> {
  // expected-error @below {{yields 'tensor<4xf32>', the kernel returns 'tensor<3xf32>'}}
  rank.yield %x : tensor<4xf32>
}

// -----

// expected-error @below {{has extent 4 and grain 0}}
rank.kernel @no_grain(%x: tensor<4xf32>) -> tensor<4xf32> attributes {extent = 4 : i64, grain = 0 : i64} {
  rank.yield %x : tensor<4xf32>
}

// -----

// expected-error @below {{has scalar 3 : i64, not a #rank.offset}}
rank.kernel @no_offset(%x: tensor<4xf32>) -> tensor<4xf32> attributes {scalars = [3]} {
  rank.yield %x : tensor<4xf32>
}

// -----

// expected-error @below {{is in parts, but has 'tensor<4xf32>' where a tile like 'tensor<8xf32>' must be}}
rank.kernel @tiles_of_two_lengths(%x: tensor<4xf32>) -> tensor<8xf32> attributes {in_parts} {
  %y = graph.concat %x, %x along 0 : tensor<4xf32>, tensor<4xf32>
  rank.yield %y : tensor<8xf32>
}

// -----

// expected-note @below {{kernel defined here}}
rank.kernel @in_parts(%x: tensor<8xf32>) -> tensor<8xf32> attributes {in_parts} {
  rank.yield %x : tensor<8xf32>
}

func.func @parts_of_other_sizes(%x: tensor<3xf32>, %y: tensor<2x2xf32>) -> (tensor<3xf32>, tensor<5xf32>) {
  // expected-error @below {{does not give each of 2 parts the tensors of '(tensor<8xf32>) -> tensor<8xf32>'}}
  %z:2 = rank.launch_parts @in_parts shared() over(%x, %y : tensor<3xf32>, tensor<2x2xf32>) -> tensor<3xf32>, tensor<5xf32>
  return %z#0, %z#1 : tensor<3xf32>, tensor<5xf32>
}

// -----

rank.kernel @whole(%x: tensor<8xf32>) -> tensor<8xf32> {
  rank.yield %x : tensor<8xf32>
}

func.func @parts_of_a_kernel_that_has_none(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{launches @whole, which is not a kernel in parts}}
  %z = rank.launch_parts @whole shared() over(%x : tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}

// -----

// expected-error @below {{needs an extent and a grain of type i64}}
rank.kernel @extent_of_another_type(%x: tensor<4xf32>) -> tensor<4xf32> attributes {extent = "4", grain = 1 : i64} {
  rank.yield %x : tensor<4xf32>
}
