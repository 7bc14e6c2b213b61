// RUN: pcc-opt %s --verify-prepared --split-input-file --verify-diagnostics

func.func @constants_are_left() -> tensor<2xi64> {
  %0 = graph.constant dense<[1, 2]> : tensor<2xi64>
  // expected-error@+1 {{has only constants as operands; after 2-prepare it has to be folded into a 'graph.constant'}}
  %1 = graph.add %0, %0 : tensor<2xi64>, tensor<2xi64>
  return %1 : tensor<2xi64>
}

// -----

// expected-error@+1 {{attribute 'graph.batch_dim' of argument 0 needs the index of a dim of a tensor with 2 dims, got 2}}
func.func @no_such_dim(%x: tensor<8x4xf32> {graph.batch_dim = 2 : i64}) { return }

// -----

// expected-error@+1 {{has inputs with batches of 8 and 4 samples}}
func.func @two_batches(%x: tensor<8xf32> {graph.batch_dim = 0 : i64}, %y: tensor<4xf32> {graph.batch_dim = 0 : i64}) { return }

// -----

module attributes {pipe.microbatches = 3 : i64} {
  // expected-error@+1 {{has a batch of 8 samples, which does not divide into 3 microbatches}}
  func.func @microbatches(%x: tensor<8xf32> {graph.batch_dim = 0 : i64}) { return }
}
