// RUN: pcc-opt %s --form-library-calls --split-input-file --verify-diagnostics

// Only static shapes reach this phase: the graph dialect does not take others.
func.func @no_dynamic_shapes(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>) -> tensor<?x4xf32> {
  // expected-error @below {{operand #0 must be statically shaped tensor}}
  %0 = graph.matmul %x, %w : tensor<?x4xf32>, tensor<4x4xf32>
  return %0 : tensor<?x4xf32>
}
