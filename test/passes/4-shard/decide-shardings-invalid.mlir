// RUN: pcc-opt --decide-shardings --split-input-file --verify-diagnostics %s

// expected-error @unknown {{no weight, input, output or value is named 'v'}}
// expected-note @unknown {{values that pcc folds, such as the result of an Identity or a weight of one element in inference, have no name}}
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["v=[tp]"]} {
  func.func @unknown_name(%x: tensor<8xf32> {graph.name = "x"}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

// expected-error @unknown {{cannot shard 'x' as [8@tp view(1x8 by 0 of 8: 0..8 from 1)]: no value can have a view as its sharding}}
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["x=[8@tp view(1x8 by 0 of 8: 0..8 from 1)]"]} {
  func.func @view(%x: tensor<8xf32> {graph.name = "x"}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

// expected-error @unknown {{cannot shard 'x' as [ep]: axis 'ep' is not in the mesh; its axis is tp}}
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["x=[ep]"]} {
  func.func @unknown_axis(%x: tensor<8xf32> {graph.name = "x"}) -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

// A request for the value of an op is refused at that op.
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["y=[ep]"]} {
  func.func @unknown_axis_of_an_op(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{cannot shard 'y' as [ep]: axis 'ep' is not in the mesh; its axis is tp}}
    %y = graph.neg %x {graph.name = "y"} : tensor<8xf32>
    return %y : tensor<8xf32>
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

// Parts of an axis that do not align cannot be told apart on one rank.
// expected-error @unknown {{another one cuts axis 'tp' in other parts, at 2 and at 3}}
module attributes {dist.mesh = #dist.mesh<tp = 6>, dist.seeds = ["x=[tp:(1)2]", "y=[tp:(1)3]"]} {
  func.func @parts_that_do_not_align(%x: tensor<12xf32> {graph.name = "x"},
      %y: tensor<12xf32> {graph.name = "y"}) -> tensor<12xf32> {
    %z = graph.add %x, %y : tensor<12xf32>, tensor<12xf32>
    return %z : tensor<12xf32>
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

// -----

// A rank that holds the whole batch can take microbatches from it. A rank that holds a part over dp cannot, if the part of a
// microbatch is another one.
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2>} {
  func.func @microbatches_of_one_sample(%x: tensor<2x2x6xf32> {graph.batch_dim = 0 : i64, graph.name = "x"},
                                        %z: tensor<2x3x6xf32> {graph.batch_dim = 0 : i64, graph.name = "z"})
      -> (tensor<2x2x6xf32> {graph.name = "y"}, tensor<1x1x1xf32> {graph.name = "s"}) {
    // expected-error @below {{relu needs [mb, -, -] of a value that is [dp, -, -], so the batch cannot be cut into these microbatches}}
    %y = graph.relu %x {pipe.stage = 0 : i64} : tensor<2x2x6xf32>
    %s = graph.reduce sum %x over [0, 1, 2] keep {pipe.stage = 0 : i64} : tensor<2x2x6xf32>
    return %y, %s : tensor<2x2x6xf32>, tensor<1x1x1xf32>
  }
}

// -----

// In training sums over the batch are possible, running sums are not.
module attributes {dist.mesh = #dist.mesh<mb = 2>} {
  graph.parameter @sum : tensor<4xf32> trained
  func.func @trained_cumsum(%x: tensor<8x4xf32> {graph.batch_dim = 0 : i64}) -> tensor<4xf32> {
    %w = graph.get_parameter @sum {pipe.stage = 0 : i64} : tensor<4xf32>
    %a = graph.mul %x, %w {pipe.stage = 0 : i64} : tensor<8x4xf32>, tensor<4xf32>
    // expected-error @below {{cumsum needs the whole batch, so the batch cannot be cut into microbatches}}
    %y = graph.cumsum %a along 0 {pipe.stage = 0 : i64} : tensor<8x4xf32>
    %g = graph.reduce sum %y over [0] {pipe.stage = 0 : i64} : tensor<8x4xf32>
    %s = graph.accumulate %g {pipe.stage = 0 : i64} : tensor<4xf32>
    graph.set_parameter @sum, %s {pipe.stage = 0 : i64} : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// An op that is not linear in a sum needs the whole sum.
module attributes {dist.mesh = #dist.mesh<mb = 2>} {
  graph.parameter @sum : tensor<4xf32> trained
  // expected-error @below {{the batch of input 'x' cannot be cut into microbatches: some op needs all of it}}
  func.func @powers_of_sums(%x: tensor<8x4xf32> {graph.batch_dim = 0 : i64, graph.name = "x"}) -> tensor<4xf32> {
    %w = graph.get_parameter @sum {pipe.stage = 0 : i64} : tensor<4xf32>
    %a = graph.mul %x, %w {pipe.stage = 0 : i64} : tensor<8x4xf32>, tensor<4xf32>
    %b = graph.reduce sum %a over [0] {pipe.stage = 0 : i64} : tensor<8x4xf32>
    %c = graph.exp %b {pipe.stage = 0 : i64} : tensor<4xf32>
    %d = graph.tanh %b {pipe.stage = 0 : i64} : tensor<4xf32>
    %e = graph.sub %x, %c {pipe.stage = 0 : i64} : tensor<8x4xf32>, tensor<4xf32>
    %f = graph.reduce sum %e over [0] {pipe.stage = 0 : i64} : tensor<8x4xf32>
    %g = graph.exp %f {pipe.stage = 0 : i64} : tensor<4xf32>
    %h = graph.mul %d, %g {pipe.stage = 0 : i64} : tensor<4xf32>, tensor<4xf32>
    %s = graph.accumulate %h {pipe.stage = 0 : i64} : tensor<4xf32>
    graph.set_parameter @sum, %s {pipe.stage = 0 : i64} : tensor<4xf32>
    return %s : tensor<4xf32>
  }
}

// -----

// The user may say the same as the model, and nothing else.
// expected-error @unknown {{cannot shard 'x' as [-]: the model asks for 'x=[tp]'}}
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["x=[-]"]} {
  func.func @against_the_model(%x: tensor<8xf32> {graph.name = "x", dist.sharding = #dist.sharding<"[8@tp:2]">})
      -> tensor<8xf32> {
    return %x : tensor<8xf32>
  }
}

// -----

module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @pin_on_another_mesh(%x: tensor<8xf32> {graph.name = "x"}) -> tensor<8xf32> {
    // expected-error @below {{cannot shard 'x' as [dp:2], as the model asks for: dim 0 uses axis 'dp', which the mesh does not have}}
    %0 = dist.pin %x to #dist.sharding<"[8@dp:2]"> value "x" : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// expected-error @unknown {{no experts can be divided by --ep 2: pcc finds no mixture-of-experts layer in this model}}
module attributes {dist.mesh = #dist.mesh<dp = 2>, dist.experts = 2} {
  graph.parameter @w : tensor<16x16xf32>
  func.func @no_experts(%x: tensor<8x16xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x16xf32> {
    %w = graph.get_parameter @w : tensor<16x16xf32>
    %y = graph.matmul %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
    return %y : tensor<8x16xf32>
  }
}

// -----

// expected-remark @unknown {{'up' has 2 experts, fewer than the 4 parts of --ep}}
module attributes {dist.mesh = #dist.mesh<dp = 4>, dist.experts = 4} {
  graph.parameter @up : tensor<2x16x16xf32>
  func.func @few_experts(%x: tensor<8x16xf32> {graph.batch_dim = 0 : i64},
                         %z: tensor<8x2xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x16xf32> {
    %gate = graph.softmax %z over 1 : tensor<8x2xf32>
    %up = graph.get_parameter @up : tensor<2x16x16xf32>
    %g = graph.einsum "te,td->etd" %gate, %x : tensor<8x2xf32>, tensor<8x16xf32>
    %e = graph.einsum "etd,edh->eth" %g, %up : tensor<2x8x16xf32>, tensor<2x16x16xf32>
    %h = graph.reduce sum %e over [0] : tensor<2x8x16xf32>
    return %h : tensor<8x16xf32>
  }
}

// -----

// expected-remark @unknown {{tp=3 does not divide the 8 heads of attention; tp=2 and tp=4 do}}
module attributes {dist.mesh = #dist.mesh<tp = 3>} {
  func.func @between_divisors(%q: tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32> {
    %y = graph.attention %q, %q, %q {scale = 0.25 : f64} : tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32>, tensor<2x8x8x8xf32>
    return %y : tensor<2x8x8x8xf32>
  }
}

// -----

// Three heads of queries share a head of keys. No larger number of ranks divides 6 heads than 6.
// expected-remark @unknown {{tp=8 does not divide the 6 heads of attention; tp=6 does}}
module attributes {dist.mesh = #dist.mesh<tp = 8>} {
  func.func @more_ranks_than_heads(%q: tensor<2x6x8x8xf32>, %k: tensor<2x2x8x8xf32>) -> tensor<2x6x8x8xf32> {
    %y = graph.attention %q, %k, %k {scale = 0.25 : f64} : tensor<2x6x8x8xf32>, tensor<2x2x8x8xf32>, tensor<2x2x8x8xf32>
    return %y : tensor<2x6x8x8xf32>
  }
}

// -----

// expected-remark @unknown {{cp has no effect: the model has no sequence}}
module attributes {dist.mesh = #dist.mesh<cp = 2>} {
  func.func @no_sequence(%x: tensor<8x32xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x32xf32> {
    %y = graph.exp %x : tensor<8x32xf32>
    return %y : tensor<8x32xf32>
  }
}

// -----

// expected-remark @unknown {{the sequence is whole on every rank of cp where it is pinned: --shard 'x=[-,-]'}}
module attributes {dist.mesh = #dist.mesh<cp = 2>, dist.seeds = ["x=[-,-]"]} {
  func.func @pinned_whole(%x: tensor<8x32xf32> {graph.name = "x", graph.sequence_dim = 1 : i64}) -> tensor<8x32xf32> {
    %y = graph.exp %x : tensor<8x32xf32>
    return %y : tensor<8x32xf32>
  }
}

// -----

// Two ranks would have one and a half blocks of four samples.
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2>, graph.reproducible} {
  graph.parameter @w : tensor<4xf32> trained
  func.func @no_branch(%x: tensor<6x4xf32> {graph.batch_dim = 0 : i64}) {
    // expected-error @below {{with --reproducible 2 ranks cannot divide the 3 samples of a microbatch: the number of ranks must be a power of two that divides the number of samples}}
    %g = graph.reduce sum %x over [0] : tensor<6x4xf32>
    %s = graph.accumulate %g : tensor<4xf32>
    graph.set_parameter @w, %s : tensor<4xf32>
    return
  }
}
