// RUN: pcc-opt %s --verify-diagnostics --split-input-file

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

func.func @gather_that_stays_small(%x: tensor<4xf32>) {
  // expected-error @below {{result is 'tensor<4xf32>', but its sharding gives}}
  %y = dist.collective all_gather %x from #half to #whole shape [8] received 16 value "y"
      : tensor<4xf32> to tensor<4xf32>
  return
}

// -----

#whole = #dist.sharding<"[-]">

func.func @nothing_to_reduce(%x: tensor<8xf32>) {
  // expected-error @below {{reduces a value that is not partial}}
  %y = dist.collective all_reduce %x from #whole to #whole shape [8] received 16 value "y"
      : tensor<8xf32> to tensor<8xf32>
  return
}
