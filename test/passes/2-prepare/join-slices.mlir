// RUN: pcc-opt %s --join-slices --split-input-file | FileCheck %s

// CHECK-LABEL: @roll
func.func @roll(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // CHECK-NEXT: %[[I:.*]] = graph.constant dense<[1, 2, 3, 0]> : tensor<4xi64>
  // CHECK-NEXT: graph.gather %{{.*}}, %[[I]] along 0 {graph.name = "y"}
  // CHECK-NEXT: return
  %0 = graph.slice %x starts [1, 0] sizes [3, 3] steps [1, 1] : tensor<4x3xf32>
  %1 = graph.slice %x starts [0, 0] sizes [1, 3] steps [1, 1] : tensor<4x3xf32>
  %2 = graph.concat %0, %1 along 0 {graph.name = "y"} : tensor<3x3xf32>, tensor<1x3xf32>
  return %2 : tensor<4x3xf32>
}

// -----

// All of the value may be one of the parts; a slice that others read stays.
// CHECK-LABEL: @prefix_and_all
func.func @prefix_and_all(%x: tensor<4xf32>) -> (tensor<6xf32>, tensor<2xf32>) {
  // CHECK: %[[S:.*]] = graph.slice
  // CHECK: graph.constant dense<[0, 1, 0, 1, 2, 3]>
  // CHECK: %[[Y:.*]] = graph.gather
  // CHECK: return %[[Y]], %[[S]]
  %0 = graph.slice %x starts [0] sizes [2] steps [1] : tensor<4xf32>
  %1 = graph.concat %0, %x along 0 : tensor<2xf32>, tensor<4xf32>
  return %1, %0 : tensor<6xf32>, tensor<2xf32>
}

// -----

// Backwards and by steps.
// CHECK-LABEL: @steps
func.func @steps(%x: tensor<6xf32>) -> tensor<6xf32> {
  // CHECK: graph.constant dense<[1, 3, 5, 5, 4, 3]>
  %0 = graph.slice %x starts [1] sizes [3] steps [2] : tensor<6xf32>
  %1 = graph.slice %x starts [5] sizes [3] steps [-1] : tensor<6xf32>
  %2 = graph.concat %0, %1 along 0 : tensor<3xf32>, tensor<3xf32>
  return %2 : tensor<6xf32>
}
