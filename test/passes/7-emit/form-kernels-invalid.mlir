// RUN: pcc-opt %s --form-kernels --split-input-file --verify-diagnostics

// Only static shapes reach this phase: the graph dialect does not take others.
func.func @no_dynamic_shapes(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{operand #0 must be statically shaped tensor}}
  %0 = graph.relu %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
