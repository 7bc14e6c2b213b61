// RUN: pcc-opt %s --split-input-file --verify-diagnostics

func.func @unknown_kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{launches @missing, which is no kernel}}
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
