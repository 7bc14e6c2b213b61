// RUN: pcc-opt %s --set-precision --verify-diagnostics --split-input-file

// expected-error @below {{cannot compute in 'i8'; f32, bf16 and f16 are known}}
module attributes {graph.precision = i8} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
}

// -----

// expected-error @below {{cannot compute in 'f64'; f32, bf16 and f16 are known}}
module attributes {graph.precision = f64} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }
}
