// RUN: pcc-opt --reshard-to-collectives --split-input-file --verify-diagnostics %s

#half = #dist.sharding<"[8@x:2]">
#whole = #dist.sharding<"[-]">
module attributes {dist.mesh = #dist.mesh<x = 2>} {
func.func @global_shape_is_unknown(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has no global shape; localize-shapes must run before}}
  %0 = dist.reshard %x from #half to #whole : tensor<8xf32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}
}

// -----

#half = #dist.sharding<"[8@mb:2]">
#whole = #dist.sharding<"[-]">
module attributes {dist.mesh = #dist.mesh<mb = 2>} {
func.func @microbatches_lie_in_time(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{cannot be lowered}}
  %0 = dist.reshard %x from #half to #whole shape [8] : tensor<4xf32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}
}
