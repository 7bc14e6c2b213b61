// RUN: pcc-opt %s --recognise-composites | FileCheck %s

// One file per composite is in recognise-composites/; here is what all have in common.

// A composite takes the name of the value that it replaces.
// CHECK-LABEL: @names_stay
func.func @names_stay(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK: graph.softmax %arg0 over 1 {graph.name = "probs"}
  %max = graph.reduce max %x over [1] keep {graph.name = "max"} : tensor<2x4xf32>
  %0 = graph.sub %x, %max : tensor<2x4xf32>, tensor<2x1xf32>
  %1 = graph.exp %0 : tensor<2x4xf32>
  %2 = graph.reduce sum %1 over [1] keep : tensor<2x4xf32>
  %3 = graph.div %1, %2 {graph.name = "probs"} : tensor<2x4xf32>, tensor<2x1xf32>
  return %3 : tensor<2x4xf32>
}

// A part that somebody else needs stays beside the composite.
// CHECK-LABEL: @parts_with_other_uses
func.func @parts_with_other_uses(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  // CHECK: %[[E:.*]] = graph.exp
  // CHECK: %[[S:.*]] = graph.softmax %arg0 over 1
  // CHECK: return %[[E]], %[[S]]
  %max = graph.reduce max %x over [1] keep : tensor<2x4xf32>
  %0 = graph.sub %x, %max : tensor<2x4xf32>, tensor<2x1xf32>
  %1 = graph.exp %0 : tensor<2x4xf32>
  %2 = graph.reduce sum %1 over [1] keep : tensor<2x4xf32>
  %3 = graph.div %1, %2 : tensor<2x4xf32>, tensor<2x1xf32>
  return %1, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}
