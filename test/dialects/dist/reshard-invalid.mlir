// RUN: pcc-opt %s --verify-diagnostics --split-input-file

#whole = #dist.sharding<"[-]">

func.func @another_global_type(%x: tensor<8xf32>) {
  // expected-error @below {{makes 'tensor<4xf32>' of 'tensor<8xf32>'}}
  %y = dist.reshard %x from #whole to #whole : tensor<8xf32> to tensor<4xf32>
  return
}

// -----

#half = #dist.sharding<"[8@tp:2]">
#whole = #dist.sharding<"[-]">

func.func @operand_of_another_local_shape(%x: tensor<8xf32>) {
  // expected-error @below {{operand is 'tensor<8xf32>', but its sharding gives}}
  %y = dist.reshard %x from #half to #whole shape [8] : tensor<8xf32> to tensor<8xf32>
  return
}

// -----

#two = #dist.sharding<"[-, -]">

func.func @sharding_of_another_rank(%x: tensor<8xf32>) {
  // expected-error @below {{operand has a sharding of 2 dims for a shape of 1}}
  %y = dist.reshard %x from #two to #two shape [8] : tensor<8xf32> to tensor<8xf32>
  return
}

// -----

// A name alone needs a mesh: in the IR every axis carries its size.
// expected-error @below {{expected the size of axis 'tp' at character 6, got '[8@tp]'}}
func.func @axis_without_size() attributes {a = #dist.sharding<"[8@tp]">} { return }

// -----

// expected-error @below {{axis 'tp' has size 0}}
module attributes {dist.mesh = #dist.mesh<tp = 0>} {}
