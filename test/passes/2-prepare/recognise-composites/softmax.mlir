// RUN: pcc-opt %s --recognise-composites | FileCheck %s

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: graph.softmax %arg0 over 1
  // CHECK-NEXT: return
  %max = graph.reduce max %x over [1] keep : tensor<2x3x4xf32>
  %0 = graph.sub %x, %max : tensor<2x3x4xf32>, tensor<2x1x4xf32>
  %1 = graph.exp %0 : tensor<2x3x4xf32>
  %2 = graph.reduce sum %1 over [1] keep : tensor<2x3x4xf32>
  %3 = graph.div %1, %2 : tensor<2x3x4xf32>, tensor<2x1x4xf32>
  return %3 : tensor<2x3x4xf32>
}

// CHECK-LABEL: @by_reciprocal
func.func @by_reciprocal(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: graph.softmax %arg0 over 1
  // CHECK-NEXT: return
  %max = graph.reduce max %x over [1] keep : tensor<2x4xf32>
  %0 = graph.sub %x, %max : tensor<2x4xf32>, tensor<2x1xf32>
  %1 = graph.exp %0 : tensor<2x4xf32>
  %2 = graph.reduce sum %1 over [1] keep : tensor<2x4xf32>
  %3 = graph.reciprocal %2 : tensor<2x1xf32>
  %4 = graph.mul %3, %1 : tensor<2x1xf32>, tensor<2x4xf32>
  return %4 : tensor<2x4xf32>
}

// CHECK-LABEL: @logarithm
func.func @logarithm(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: graph.log_softmax %arg0 over 1
  // CHECK-NEXT: return
  %max = graph.reduce max %x over [1] keep : tensor<2x4xf32>
  %0 = graph.sub %x, %max : tensor<2x4xf32>, tensor<2x1xf32>
  %1 = graph.exp %0 : tensor<2x4xf32>
  %2 = graph.reduce sum %1 over [1] keep : tensor<2x4xf32>
  %3 = graph.log %2 : tensor<2x1xf32>
  %4 = graph.sub %0, %3 : tensor<2x4xf32>, tensor<2x1xf32>
  return %4 : tensor<2x4xf32>
}
