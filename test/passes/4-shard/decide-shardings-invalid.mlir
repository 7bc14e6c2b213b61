// RUN: pcc-opt --decide-shardings --split-input-file --verify-diagnostics %s

// expected-error @unknown {{no weight, input, output or value is named 'v'}}
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["v=[tp]"]} {
  func.func @unknown_name(%x: tensor<8xf32> {graph.name = "x"}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

// expected-error @unknown {{cannot shard 'x' as [ep]: axis "ep" is not in the mesh}}
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["x=[ep]"]} {
  func.func @unknown_axis(%x: tensor<8xf32> {graph.name = "x"}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

// expected-error @unknown {{sharding has 2 dims, the tensor has 1}}
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["x=[tp,-]"]} {
  func.func @another_rank(%x: tensor<8xf32> {graph.name = "x"}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

// Softmax keeps the dim whole along which it sums.
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["s=[-,tp]"]} {
  func.func @seed_that_the_op_forbids(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    // expected-error @below {{sharding 's=[-,tp]' cannot be met: axis "tp" cannot}}
    %y = graph.softmax %x over 1 {graph.name = "s"} : tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}

// -----

// Running sums over the batch need all microbatches.
module attributes {dist.mesh = #dist.mesh<mb = 2>} {
  func.func @cumsum_over_the_batch(%x: tensor<8x4xf32> {graph.batch_dim = 0 : i64})
      -> tensor<8x4xf32> {
    // expected-error @below {{cumsum needs the whole batch, so the batch cannot be cut}}
    %y = graph.cumsum %x along 0 : tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}
