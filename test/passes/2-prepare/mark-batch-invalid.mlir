// RUN: pcc-opt %s --mark-batch --split-input-file --verify-diagnostics

// expected-error@+3 {{3 microbatches do not divide the batch of 8}}
// expected-note@+2 {{2 and 4 do}}
// expected-note@+1 {{the batch is dim 0 of input 'x'; --batch-dim NAME=K names another}}
module attributes {pipe.microbatches = 3 : i64} {
  func.func @microbatches(%x: tensor<8x4xf32> {graph.name = "x"}) { return }
}

// -----

// expected-error@+3 {{16 microbatches do not divide the batch of 8}}
// expected-note@+2 {{8 does}}
// expected-note@+1 {{the batch is dim 0 of input ''; --batch-dim NAME=K names another}}
module attributes {pipe.microbatches = 16 : i64} {
  func.func @too_many(%x: tensor<8x4xf32>) { return }
}

// -----

// expected-error@+1 {{the model has no batch to split into 2 microbatches}}
module attributes {pipe.microbatches = 2 : i64} {
  func.func @no_batch() { return }
}

// -----

// expected-error@+1 {{no input is named 'y'}}
module attributes {graph.batch_dims = ["y=0"]} {
  func.func @unknown_input(%x: tensor<8x4xf32> {graph.name = "x"}) { return }
}

// -----

// expected-error@+1 {{input 'x' of 'tensor<8x4xf32>' has no dim 2}}
module attributes {graph.batch_dims = ["x=2"]} {
  func.func @unknown_dim(%x: tensor<8x4xf32> {graph.name = "x"}) { return }
}

// -----

// expected-error@+1 {{batch dim 'x' is not of the form NAME=K}}
module attributes {graph.batch_dims = ["x"]} {
  func.func @no_dim(%x: tensor<8x4xf32> {graph.name = "x"}) { return }
}

// -----

// expected-error@+1 {{input 'y' has a batch of 4, but input 'x' has 8}}
module attributes {graph.batch_dims = ["x=0", "y=1"]} {
  func.func @different_sizes(%x: tensor<8x4xf32> {graph.name = "x"}, %y: tensor<8x4xf32> {graph.name = "y"}) { return }
}
