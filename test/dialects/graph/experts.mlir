// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// Six rows are the most of three tokens that choose two experts each.
// CHECK-LABEL: @group_rows
func.func @group_rows(%gate: tensor<3x8xf32>) -> (tensor<6xi64>, tensor<8xi64>) {
  // CHECK: %[[TOKEN:[a-z]*]], %{{.*}}, %{{.*}}, %[[COUNTS:[a-z]*]] = graph.group_rows %arg0 chosen 2
  // CHECK: return %[[TOKEN]], %[[COUNTS]] : tensor<6xi64>, tensor<8xi64>
  %token, %expert, %weight, %counts = graph.group_rows %gate chosen 2 : tensor<3x8xf32>
  return %token, %counts : tensor<6xi64>, tensor<8xi64>
}

// A token cannot have more rows than there are experts.
// CHECK-LABEL: @rows_of_all_experts
func.func @rows_of_all_experts(%gate: tensor<3x2xf32>) -> tensor<6xf32> {
  // CHECK: graph.group_rows
  %token, %expert, %weight, %counts = graph.group_rows %gate chosen 4 : tensor<3x2xf32>
  return %weight : tensor<6xf32>
}

// CHECK-LABEL: @grouped_matmul
func.func @grouped_matmul(%rows: tensor<6x4xf32>, %w: tensor<8x5x4xf32>, %counts: tensor<8xi64>)
    -> tensor<6x5xf32> {
  // CHECK: graph.grouped_matmul %arg0, %arg1 by %arg2 {transpose_rhs} : tensor<6x4xf32>,
  %y = graph.grouped_matmul %rows, %w by %counts {transpose_rhs}
      : tensor<6x4xf32>, tensor<8x5x4xf32>, tensor<8xi64>
  return %y : tensor<6x5xf32>
}
