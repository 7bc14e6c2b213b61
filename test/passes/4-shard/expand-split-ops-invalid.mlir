// RUN: pcc-opt --expand-split-ops --insert-reshards --verify-sharded --split-input-file --verify-diagnostics %s

#columns = #dist.sharding<"[-, 8@t:2]">
#one = #dist.sharding<"[8@t:2]">

// A split that does not fit the rule is left for the gate to report.
module attributes {dist.mesh = #dist.mesh<t = 2>} {
  func.func @another_rank(%x: tensor<4x8xf32> {dist.sharding = #columns}) -> tensor<4x8xf32> {
    // expected-error @below {{has no 'dist.split' that fits its sharding rule; every op has one after 4-shard}}
    %y = graph.softmax %x over 1 {dist.shardings = [#columns], dist.split = #one} : tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}
