// RUN: pcc-opt %s --join-slices --split-input-file | FileCheck %s

// Slices that resemble parts of one value, but are not.

// CHECK-LABEL: @two_values
func.func @two_values(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<5xf32> {
  // CHECK: graph.concat
  %0 = graph.slice %x starts [0] sizes [1] steps [1] : tensor<4xf32>
  %1 = graph.concat %0, %y along 0 : tensor<1xf32>, tensor<4xf32>
  return %1 : tensor<5xf32>
}

// -----

// CHECK-LABEL: @cut_in_another_dim
func.func @cut_in_another_dim(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // CHECK: graph.concat
  %0 = graph.slice %x starts [0, 0] sizes [2, 4] steps [1, 1] : tensor<4x4xf32>
  %1 = graph.slice %x starts [0, 0] sizes [4, 2] steps [1, 1] : tensor<4x4xf32>
  %2 = graph.reshape %1 : tensor<4x2xf32> to tensor<2x4xf32>
  %3 = graph.concat %0, %2 along 0 : tensor<2x4xf32>, tensor<2x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// No slice: the value twice is a broadcast of blocks.
// CHECK-LABEL: @twice
func.func @twice(%x: tensor<4xf32>) -> tensor<8xf32> {
  // CHECK: graph.concat
  %0 = graph.concat %x, %x along 0 : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<8xf32>
}

// -----

// A value that the user has pinned is kept.
// CHECK-LABEL: @pinned_slice
module attributes {dist.seeds = ["s=[-]"]} {
  func.func @pinned_slice(%x: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK: graph.slice {{.*}}graph.name = "s"
    // CHECK: graph.concat
    %0 = graph.slice %x starts [1] sizes [3] steps [1] {graph.name = "s"} : tensor<4xf32>
    %1 = graph.slice %x starts [0] sizes [1] steps [1] : tensor<4xf32>
    %2 = graph.concat %0, %1 along 0 : tensor<3xf32>, tensor<1xf32>
    return %2 : tensor<4xf32>
  }
}
