// RUN: pcc-opt --insert-reshards --verify-sharded --split-input-file --verify-diagnostics %s

#whole = #dist.sharding<"[-]">

// The wanted shardings of an op follow from its split; the gate rejects an op without one.
func.func @wants_nothing_known(%x: tensor<8xf32> {dist.sharding = #whole}) -> tensor<8xf32> {
  // expected-error @below {{has no 'dist.split' that fits its rule; decide-shardings must give it}}
  %0 = graph.relu %x {dist.shardings = [#whole]} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
