// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// The body is all that the call reads.
// CHECK-LABEL: @call
func.func @call(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: rank.library_call(%arg0, %arg1) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<4x8xf32>, %[[B:.*]]: tensor<8x6xf32>):
  // CHECK-NEXT:   graph.matmul %[[A]], %[[B]]
  %y = rank.library_call(%x, %w) : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32> {
  ^bb0(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>):
    %0 = graph.matmul %a, %b : tensor<4x8xf32>, tensor<8x6xf32>
    %1 = graph.relu %0 : tensor<4x6xf32>
    rank.yield %1 : tensor<4x6xf32>
  }
  return %y : tensor<4x6xf32>
}
