// RUN: pcc-opt %s --recognise-composites | FileCheck %s

!x = tensor<2x3x5x8xf32>
!half = tensor<2x3x5x4xf32>
!table = tensor<1x1x5x8xf32>

// CHECK-LABEL: @halves
func.func @halves(%x: !x, %cos: !table, %sin: !table) -> !x {
  // CHECK-NEXT: graph.rotary %arg0, %arg1, %arg2
  // CHECK-NEXT: return
  %0 = graph.mul %x, %cos : !x, !table
  %a = graph.slice %x starts [0, 0, 0, 0] sizes [2, 3, 5, 4] steps [1, 1, 1, 1] : !x
  %b = graph.slice %x starts [0, 0, 0, 4] sizes [2, 3, 5, 4] steps [1, 1, 1, 1] : !x
  %1 = graph.neg %b : !half
  %2 = graph.concat %1, %a along 3 : !half, !half
  %3 = graph.mul %sin, %2 : !table, !x
  %4 = graph.add %3, %0 : !x, !x
  return %4 : !x
}

// A part of each head, whose slices have been composed.
// CHECK-LABEL: @part_of_a_head
func.func @part_of_a_head(%y: tensor<2x3x5x10xf32>, %cos: !table, %sin: !table) -> !x {
  // CHECK-NEXT: %[[X:.*]] = graph.slice
  // CHECK-NEXT: graph.rotary %[[X]], %arg1, %arg2
  // CHECK-NEXT: return
  %x = graph.slice %y starts [0, 0, 0, 2] sizes [2, 3, 5, 8] steps [1, 1, 1, 1] : tensor<2x3x5x10xf32>
  %0 = graph.mul %x, %cos : !x, !table
  %a = graph.slice %y starts [0, 0, 0, 2] sizes [2, 3, 5, 4] steps [1, 1, 1, 1] : tensor<2x3x5x10xf32>
  %b = graph.slice %y starts [0, 0, 0, 6] sizes [2, 3, 5, 4] steps [1, 1, 1, 1] : tensor<2x3x5x10xf32>
  %1 = graph.neg %b : !half
  %2 = graph.concat %1, %a along 3 : !half, !half
  %3 = graph.mul %2, %sin : !x, !table
  %4 = graph.add %0, %3 : !x, !x
  return %4 : !x
}

// CHECK-LABEL: @pairs
func.func @pairs(%x: !x, %cos: !table, %sin: !table) -> !x {
  // CHECK-NEXT: graph.rotary %arg0, %arg1, %arg2 interleaved
  // CHECK-NEXT: return
  %a = graph.slice %x starts [0, 0, 0, 0] sizes [2, 3, 5, 4] steps [1, 1, 1, 2] : !x
  %b = graph.slice %x starts [0, 0, 0, 1] sizes [2, 3, 5, 4] steps [1, 1, 1, 2] : !x
  %0 = graph.neg %b : !half
  %1 = graph.reshape %0 : !half to tensor<2x3x5x4x1xf32>
  %2 = graph.reshape %a : !half to tensor<2x3x5x4x1xf32>
  %3 = graph.concat %1, %2 along 4 : tensor<2x3x5x4x1xf32>, tensor<2x3x5x4x1xf32>
  %4 = graph.reshape %3 : tensor<2x3x5x4x2xf32> to !x
  %5 = graph.mul %4, %sin : !x, !table
  %6 = graph.mul %x, %cos : !x, !table
  %7 = graph.add %6, %5 : !x, !x
  return %7 : !x
}
