// RUN: pcc-opt --insert-reshards --verify-sharded --split-input-file --verify-diagnostics %s

#whole = #dist.sharding<"[-]">

// The wanted shardings of an op follow from its split; the gate rejects an op without one.
func.func @wants_nothing_known(%x: tensor<8xf32> {dist.sharding = #whole}) -> tensor<8xf32> {
  // expected-error @below {{has no 'dist.split' that fits its sharding rule; every op has one after 4-shard}}
  %0 = graph.relu %x {dist.shardings = [#whole]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#whole = #dist.sharding<"[-, -]">

// expected-remark @unknown {{ops that no rule splits run whole on every rank: graph.reshape (1 op)}}
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @no_rule_splits(%x: tensor<3x2xf32> {dist.sharding = #whole}) -> (tensor<2x3xf32> {dist.sharding = #whole}) {
    %y = graph.reshape %x {dist.shardings = [#whole], dist.split = #dist.sharding<"[-, -, -, -]">} : tensor<3x2xf32> to tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}

// -----

#whole = #dist.sharding<"[-, -]">

// Microbatches are no ranks, so nothing is said of a mesh of them alone.
module attributes {dist.mesh = #dist.mesh<mb = 2>} {
  func.func @microbatches_divide_no_rank(%x: tensor<3x2xf32> {dist.sharding = #whole}) -> (tensor<2x3xf32> {dist.sharding = #whole}) {
    %y = graph.reshape %x {dist.shardings = [#whole], dist.split = #dist.sharding<"[-, -, -, -]">} : tensor<3x2xf32> to tensor<2x3xf32>
    return %y : tensor<2x3xf32>
  }
}
