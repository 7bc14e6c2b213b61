// RUN: pcc-opt --reshard-to-collectives --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

#from = #dist.sharding<"[-, -] partial sum(x:2)">
#to = #dist.sharding<"[-, -]">

// A sum that every rank needs: one all-reduce.
// CHECK-LABEL: @partial_sum_needs_all_reduce
module attributes {dist.mesh = #dist.mesh<x = 2>} {
  func.func @partial_sum_needs_all_reduce(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    // CHECK-NEXT: dist.collective all_reduce
    // CHECK-NEXT: return
    %y = dist.reshard %x from #from to #to shape [8, 4]
        : tensor<8x4xf32> to tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}

// -----

#from = #dist.sharding<"[8@x:2, -]">
#to = #dist.sharding<"[-, -]">

// A split value that every rank needs: one all-gather.
// CHECK-LABEL: @gather_one_axis
module attributes {dist.mesh = #dist.mesh<x = 2>} {
  func.func @gather_one_axis(%x: tensor<4x4xf32>) -> tensor<8x4xf32> {
    // CHECK-NEXT: dist.collective all_gather
    // CHECK-NEXT: return
    %y = dist.reshard %x from #from to #to shape [8, 4]
        : tensor<4x4xf32> to tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}

// -----

#from = #dist.sharding<"[-, -]">
#to = #dist.sharding<"[8@x:2, -]">

// A value that all ranks hold is sliced without communication.
// CHECK-LABEL: @slice_is_local
module attributes {dist.mesh = #dist.mesh<x = 2>} {
  func.func @slice_is_local(%x: tensor<8x4xf32>) -> tensor<4x4xf32> {
    // CHECK-NEXT: dist.collective slice
    // CHECK-NEXT: return
    %y = dist.reshard %x from #from to #to shape [8, 4]
        : tensor<8x4xf32> to tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

#from = #dist.sharding<"[-, -] partial sum(x:2)">
#to = #dist.sharding<"[8@x:2, -]">

// A sum of which each rank needs a part.
// CHECK-LABEL: @reduce_scatter_of_a_split_sum
module attributes {dist.mesh = #dist.mesh<x = 2>} {
  func.func @reduce_scatter_of_a_split_sum(%x: tensor<8x4xf32>) -> tensor<4x4xf32> {
    // CHECK-NEXT: dist.collective reduce_scatter
    // CHECK-NEXT: return
    %y = dist.reshard %x from #from to #to shape [8, 4]
        : tensor<8x4xf32> to tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

#from = #dist.sharding<"[8@x:2, -]">
#to = #dist.sharding<"[-, 4@x:2]">

// An axis moves from one dim to another.
// CHECK-LABEL: @all_to_all_moves_an_axis
module attributes {dist.mesh = #dist.mesh<x = 2>} {
  func.func @all_to_all_moves_an_axis(%x: tensor<4x4xf32>) -> tensor<8x2xf32> {
    // CHECK-NEXT: dist.collective all_to_all
    // CHECK-NEXT: return
    %y = dist.reshard %x from #from to #to shape [8, 4]
        : tensor<4x4xf32> to tensor<8x2xf32>
    return %y : tensor<8x2xf32>
  }
}

// -----

#from = #dist.sharding<"[8@x:2, -]">
#to = #dist.sharding<"[8@y:2, -]">

// Equal parts on other ranks.
// CHECK-LABEL: @permute_exchanges_ranks
module attributes {dist.mesh = #dist.mesh<x = 2, y = 2>} {
  func.func @permute_exchanges_ranks(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
    // CHECK-NEXT: dist.collective permute
    // CHECK-NEXT: return
    %y = dist.reshard %x from #from to #to shape [8, 4]
        : tensor<4x4xf32> to tensor<4x4xf32>
    return %y : tensor<4x4xf32>
  }
}

// -----

#from = #dist.sharding<"[-, -]">
#to = #dist.sharding<"[-, -] partial sum(x:2)">

// A whole value becomes a sum of itself and zeros.
// CHECK-LABEL: @mask_makes_a_value_partial
module attributes {dist.mesh = #dist.mesh<x = 2>} {
  func.func @mask_makes_a_value_partial(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
    // CHECK-NEXT: dist.collective mask
    // CHECK-NEXT: return
    %y = dist.reshard %x from #from to #to shape [8, 4]
        : tensor<8x4xf32> to tensor<8x4xf32>
    return %y : tensor<8x4xf32>
  }
}

// -----

#from = #dist.sharding<"[3@x:2|2, -]">
#to = #dist.sharding<"[6@x:2, -]">

// Parts of 4 and 2 become parts of 3 and 3: pairs of ranks exchange what differs.
// CHECK-LABEL: @exchange_between_uneven_parts
module attributes {dist.mesh = #dist.mesh<x = 2>} {
  func.func @exchange_between_uneven_parts(%x: tensor<4x4xf32>) -> tensor<3x4xf32> {
    // CHECK-NEXT: dist.collective exchange
    // CHECK-NEXT: return
    %y = dist.reshard %x from #from to #to shape [6, 4]
        : tensor<4x4xf32> to tensor<3x4xf32>
    return %y : tensor<3x4xf32>
  }
}
