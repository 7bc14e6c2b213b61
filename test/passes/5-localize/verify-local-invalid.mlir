// RUN: pcc-opt --verify-local --split-input-file --verify-diagnostics %s

#whole = #dist.sharding<"[-]">

func.func @reshard_left(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{survived phase '5-localize'; reshard-to-collectives must remove it}}
  %0 = dist.reshard %x from #whole to #whole : tensor<8xf32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#half = #dist.sharding<"[8@tp:2]">

graph.parameter @w : tensor<8xf32>
func.func @weight_of_global_shape() -> tensor<8xf32> {
  // expected-error @below {{after phase '5-localize', its shard is 'tensor<4xf32>'}}
  %w = graph.get_parameter @w {dist.shardings = [#half]} : tensor<8xf32>
  return %w : tensor<8xf32>
}

// -----

graph.parameter @w : tensor<8xf32>
func.func @weight_without_sharding() -> tensor<8xf32> {
  // expected-error @below {{has no sharding after phase '5-localize'}}
  %w = graph.get_parameter @w : tensor<8xf32>
  return %w : tensor<8xf32>
}
