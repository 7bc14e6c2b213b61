// RUN: pcc-opt --join-slices --decide-shardings --expand-split-ops --insert-reshards --verify-sharded \
// RUN:     --localize-shapes --reshard-to-collectives --verify-local --split-input-file %s | %python %source/test/inline-aliases.py \
// RUN:   | FileCheck %s --implicit-check-not="received {{[1-9]}}"

// All collectives of ops that only move elements with the bytes that one rank receives; nothing else
// is received. B=4 S=256 H=1024 bf16 on 4 ranks, and on 4 x 2 ranks 16 per dim in f32.

!square = tensor<1024x1024xbf16>
!rows = tensor<4x256x1024xbf16>

// Rows of each batch become rows of all: an all-to-all.
// CHECK-LABEL: @merged_dims_change_places
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t,-]", "y=[t,-]"]} {
  func.func @merged_dims_change_places(%x: !rows {graph.name = "x"}) -> (!square {graph.name = "y"}) {
    // CHECK: all_to_all {{.*}} from "[-, 256@t:4, -]" to "[4@t:4, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 393216{{ }}
    %y = graph.reshape %x : !rows to !square
    return %y : !square
  }
}

// -----

!rows = tensor<256x1024xbf16>
!row = tensor<1x1024xbf16>

// A roll sends one row.
// CHECK-LABEL: @one_row_goes_to_the_neighbour
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[t,-]", "y=[t,-]"]} {
  func.func @one_row_goes_to_the_neighbour(%x: !rows {graph.name = "x"}) -> (!rows {graph.name = "y"}) {
    // CHECK: exchange {{.*}} from "[256@t:4, -]"
    // CHECK-SAME: to "[256@t:4 view(1x256 by 0 of 256: 0..255 from 1, 255..256 from 0), -]"
    // CHECK-SAME: shape [256, 1024] received 2048{{ }}
    %rest = graph.slice %x starts [1, 0] sizes [255, 1024] steps [1, 1] : !rows
    %first = graph.slice %x starts [0, 0] sizes [1, 1024] steps [1, 1] : !rows
    %y = graph.concat %rest, %first along 0 : tensor<255x1024xbf16>, !row
    return %y : !rows
  }
}

// -----

!cube = tensor<16x16x16xf32>

// Two axes meet on one dim in a single all-to-all over both.
// CHECK-LABEL: @two_axes_join_in_one_step
module attributes {dist.mesh = #dist.mesh<x = 4, y = 2>, dist.seeds = ["x=[y,-,x]", "y=[-,x+y,-]"]} {
  func.func @two_axes_join_in_one_step(%x: !cube {graph.name = "x"}) -> (!cube {graph.name = "y"}) {
    // CHECK: all_to_all {{.*}} from "[16@y:2, -, 16@x:4]" to "[-, 16@x:4+y:2, -]"
    // CHECK-SAME: shape [16, 16, 16] received 1792{{ }}
    %y = graph.abs %x : !cube
    return %y : !cube
  }
}

// -----

!square = tensor<16x16xf32>

// Dims that change axes: each rank fetches what it lacks.
// CHECK-LABEL: @two_axes_swap_in_one_step
module attributes {dist.mesh = #dist.mesh<x = 4, y = 2>, dist.seeds = ["x=[x,y]", "y=[y,x]"]} {
  func.func @two_axes_swap_in_one_step(%x: !square {graph.name = "x"}) -> (!square {graph.name = "y"}) {
    // CHECK: exchange {{.*}} from "[16@x:4, 16@y:2]" to "[16@y:2, 16@x:4]"
    // CHECK-SAME: shape [16, 16] received 128{{ }}
    %y = graph.abs %x : !square
    return %y : !square
  }
}
