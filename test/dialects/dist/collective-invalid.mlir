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

// -----

#rows = #dist.sharding<"[8@tp:2, -]">
#all = #dist.sharding<"[-, -]">

func.func @one_mask(%x: tensor<4x3xf32>, %wanted: tensor<8xi1>) {
  // expected-error @below {{needs two masks of rows, not 1}}
  %y = dist.collective all_gather %x rows(%wanted : tensor<8xi1>) from #rows to #all
      shape [8, 3] received 48 value "y" : tensor<4x3xf32> to tensor<8x3xf32>
  return
}

// -----

#rows = #dist.sharding<"[8@tp:2, -]">
#all = #dist.sharding<"[-, -]">

func.func @masks_swapped(%x: tensor<4x3xf32>, %asked: tensor<4x2xi1>, %wanted: tensor<8xi1>) {
  // expected-error @below {{has 'tensor<4x2xi1>' for the rows of its whole side}}
  %y = dist.collective all_gather %x rows(%wanted, %asked : tensor<8xi1>, tensor<4x2xi1>) from #rows to #all
      shape [8, 3] received 48 value "y" : tensor<4x3xf32> to tensor<8x3xf32>
  return
}

// -----

#rows = #dist.sharding<"[8@tp:2, -]">
#all = #dist.sharding<"[-, -]">

func.func @mask_of_one_rank(%x: tensor<4x3xf32>, %asked: tensor<4xi1>, %wanted: tensor<8xi1>) {
  // expected-error @below {{has 'tensor<4xi1>' for the rows of its divided side}}
  %y = dist.collective all_gather %x rows(%asked, %wanted : tensor<4xi1>, tensor<8xi1>) from #rows to #all
      shape [8, 3] received 48 value "y" : tensor<4x3xf32> to tensor<8x3xf32>
  return
}

// -----

#columns = #dist.sharding<"[-, 4@tp:2]">
#all = #dist.sharding<"[-, -]">

func.func @rows_that_grow(%x: tensor<8x2xf32>, %asked: tensor<8x2xi1>, %wanted: tensor<8xi1>) {
  // expected-error @below {{changes dim 1 of its rows}}
  %y = dist.collective all_gather %x rows(%asked, %wanted : tensor<8x2xi1>, tensor<8xi1>) from #columns to #all
      shape [8, 4] received 48 value "y" : tensor<8x2xf32> to tensor<8x4xf32>
  return
}

// -----

#rows = #dist.sharding<"[8@tp:2, -]">
#max = #dist.sharding<"[-, -] partial max(tp:2)">

func.func @maximum(%x: tensor<8x3xf32>, %asked: tensor<4x2xi1>, %wanted: tensor<8xi1>) {
  // expected-error @below {{moves rows of a max, not of a sum}}
  %y = dist.collective reduce_scatter %x rows(%asked, %wanted : tensor<4x2xi1>, tensor<8xi1>) from #max to #rows
      shape [8, 3] received 48 value "y" : tensor<8x3xf32> to tensor<4x3xf32>
  return
}

// -----

#rows = #dist.sharding<"[8@tp:2, -]">
#columns = #dist.sharding<"[-, 4@tp:2]">

func.func @no_rows(%x: tensor<4x4xf32>, %asked: tensor<4x2xi1>, %wanted: tensor<8xi1>) {
  // expected-error @below {{moves no rows}}
  %y = dist.collective all_to_all %x rows(%asked, %wanted : tensor<4x2xi1>, tensor<8xi1>) from #rows to #columns
      shape [8, 4] received 48 value "y" : tensor<4x4xf32> to tensor<8x2xf32>
  return
}

// -----

// The sharding is of 8 elements, which is another number than that of the shape.
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @factors_of_another_size(%x: tensor<4xf32>) -> tensor<8xf32> {
    // expected-error @below {{for a tensor of shape [7]: dim 0 has factors that multiply to 8, got size 7}}
    %y = dist.collective all_gather %x from #dist.sharding<"[8@tp:2]"> to #dist.sharding<"[8]"> shape [7] received 16 value "y"
        : tensor<4xf32> to tensor<8xf32>
    return %y : tensor<8xf32>
  }
}
