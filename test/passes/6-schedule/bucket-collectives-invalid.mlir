// RUN: pcc-opt --bucket-collectives --split-input-file --verify-diagnostics %s

#rows = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

// A collective whose shards are not what it says does not reach the pass.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @not_the_shard(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error @below {{operand}}
    %0 = dist.collective all_gather %x from #rows to #whole shape [8] received 16 value "x"
        : tensor<8xf32> to tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
