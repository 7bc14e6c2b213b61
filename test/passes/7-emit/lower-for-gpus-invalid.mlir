// RUN: pcc-opt %s --lower-for-gpus --split-input-file --verify-diagnostics

// Only static shapes reach this phase: the graph dialect does not take others.
module attributes {dist.target = "cuda"} {
  func.func @no_dynamic_shapes(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    // expected-error @below {{operand #0 must be statically shaped tensor}}
    %0 = graph.cumsum %x along 0 : tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
}

// -----

// Filters of another depth are refused before they become a product's operand.
module attributes {dist.target = "cuda"} {
  func.func @filters_have_the_channels_of_the_input(%x: tensor<1x3x5x5xf32>, %w: tensor<4x2x3x3xf32>)
      -> tensor<1x4x3x3xf32> {
    // expected-error @below {{in 1 groups: channels do not fit}}
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
        : tensor<1x3x5x5xf32>, tensor<4x2x3x3xf32>
    return %0 : tensor<1x4x3x3xf32>
  }
}
