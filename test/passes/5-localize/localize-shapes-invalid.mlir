// RUN: pcc-opt --localize-shapes --split-input-file --verify-diagnostics %s

func.func @op_without_a_split(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has no 'dist.split' that fits its sharding rule}}
  %0 = graph.relu %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#two = #dist.sharding<"[-, -]">

func.func @split_of_another_op(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has no 'dist.split' that fits its sharding rule}}
  %0 = graph.relu %x {dist.split = #two} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
