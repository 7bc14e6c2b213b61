// RUN: pcc-opt %s --simplify-graph | FileCheck %s

graph.parameter @w : tensor<8x4xf32>
graph.parameter @b : tensor<8xf32>

// A transposed weight stays as it is stored: the matmul reads it transposed.
// CHECK-LABEL: @weights_are_used_as_stored
func.func @weights_are_used_as_stored(%x: tensor<2x4xf32>) -> tensor<2x8xf32> {
  // CHECK:      %[[W:.*]] = graph.get_parameter @w
  // CHECK-NEXT: graph.matmul %{{.*}}, %[[W]] {graph.name = "y", transpose_rhs}
  %w = graph.get_parameter @w : tensor<8x4xf32>
  %t = graph.transpose %w [1, 0] : tensor<8x4xf32>
  %y = graph.matmul %x, %t {graph.name = "y"} : tensor<2x4xf32>, tensor<4x8xf32>
  return %y : tensor<2x8xf32>
}

// Shape arithmetic is gone.
// CHECK-LABEL: @constants_are_computed
func.func @constants_are_computed() -> tensor<2xi64> {
  // CHECK-NEXT: %[[C:.*]] = graph.constant dense<[8, 12]>
  // CHECK-NEXT: return %[[C]]
  %a = graph.constant dense<[2, 3]> : tensor<2xi64>
  %b = graph.constant dense<4> : tensor<i64>
  %c = graph.mul %a, %b : tensor<2xi64>, tensor<i64>
  return %c : tensor<2xi64>
}

// CHECK-LABEL: @neutral_operands
func.func @neutral_operands(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: return %arg0
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %0 = graph.add %zero, %x : tensor<4xf32>, tensor<2x4xf32>
  %1 = graph.mul %0, %one : tensor<2x4xf32>, tensor<f32>
  %2 = graph.div %1, %one : tensor<2x4xf32>, tensor<f32>
  %3 = graph.neg %2 : tensor<2x4xf32>
  %4 = graph.neg %3 : tensor<2x4xf32>
  %5 = graph.pow %4, %one : tensor<2x4xf32>, tensor<f32>
  return %5 : tensor<2x4xf32>
}

// CHECK-LABEL: @casts_that_lose_nothing
func.func @casts_that_lose_nothing(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // CHECK-NEXT: return %arg0
  %0 = graph.cast %x : tensor<4xbf16> to tensor<4xf32>
  %1 = graph.cast %0 : tensor<4xf32> to tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// A mask that is true everywhere selects nothing.
// CHECK-LABEL: @true_masks
func.func @true_masks(%x: tensor<2x4xf32>, %m: tensor<2x4xi1>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[Z:.*]] = graph.constant dense<0.0
  // CHECK-NEXT: graph.select %arg1, %arg0, %[[Z]]
  // CHECK-NEXT: return
  %true = graph.constant dense<true> : tensor<1x4xi1>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.and %m, %true : tensor<2x4xi1>, tensor<1x4xi1>
  %1 = graph.not %0 : tensor<2x4xi1>
  %2 = graph.select %1, %zero, %x : tensor<2x4xi1>, tensor<f32>, tensor<2x4xf32>
  %3 = graph.select %true, %2, %zero : tensor<1x4xi1>, tensor<2x4xf32>, tensor<f32>
  return %3 : tensor<2x4xf32>
}

// CHECK-LABEL: @element_wise_ops_broadcast_by_themselves
func.func @element_wise_ops_broadcast_by_themselves(%x: tensor<2x4xf32>, %y: tensor<4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %arg1 : tensor<4xf32>
  // CHECK-NEXT: graph.add %arg0, %[[E]]
  // CHECK-NEXT: return
  %0 = graph.broadcast %y : tensor<4xf32> to tensor<2x4xf32>
  %1 = graph.exp %0 : tensor<2x4xf32>
  %2 = graph.add %x, %1 : tensor<2x4xf32>, tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// The chain that swaps the last two dims of keys around a batch of heads.
// CHECK-LABEL: @transposes_of_merged_dims
func.func @transposes_of_merged_dims(%x: tensor<2x3x5x7xf32>) -> tensor<2x3x7x5xf32> {
  // CHECK-NEXT: graph.transpose %arg0 [0, 1, 3, 2]
  // CHECK-NEXT: return
  %0 = graph.reshape %x : tensor<2x3x5x7xf32> to tensor<6x5x7xf32>
  %1 = graph.transpose %0 [0, 2, 1] : tensor<6x5x7xf32>
  %2 = graph.reshape %1 : tensor<6x7x5xf32> to tensor<2x3x7x5xf32>
  return %2 : tensor<2x3x7x5xf32>
}

// CHECK-LABEL: @reshapes_and_transposes_compose
func.func @reshapes_and_transposes_compose(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: return %arg0
  %0 = graph.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
  %1 = graph.transpose %0 [1, 2, 0] : tensor<4x2x3xf32>
  %2 = graph.reshape %1 : tensor<2x3x4xf32> to tensor<24xf32>
  %3 = graph.reshape %2 : tensor<24xf32> to tensor<2x3x4xf32>
  return %3 : tensor<2x3x4xf32>
}

// CHECK-LABEL: @slices_compose_and_pass_concats
func.func @slices_compose_and_pass_concats(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<2xf32> {
  // CHECK-NEXT: graph.slice %arg1 starts [3] sizes [2] steps [2]
  // CHECK-NEXT: return
  %0 = graph.concat %x, %y along 0 : tensor<4xf32>, tensor<8xf32>
  %1 = graph.slice %0 starts [5] sizes [6] steps [1] : tensor<12xf32>
  %2 = graph.slice %1 starts [2] sizes [2] steps [2] : tensor<6xf32>
  return %2 : tensor<2xf32>
}

// A Gemm on flattened rows is a product on the dims themselves.
// CHECK-LABEL: @merged_dims_that_are_split_again
func.func @merged_dims_that_are_split_again(%x: tensor<2x3x4xf32>) -> tensor<2x3x8xf32> {
  // CHECK-NOT:  graph.reshape
  // CHECK:      %[[M:.*]] = graph.matmul %arg0, %{{.*}} {transpose_rhs} : tensor<2x3x4xf32>
  // CHECK-NEXT: graph.add %[[M]], %{{.*}} {graph.name = "y"}
  %w = graph.get_parameter @w : tensor<8x4xf32>
  %b = graph.get_parameter @b : tensor<8xf32>
  %0 = graph.reshape %x : tensor<2x3x4xf32> to tensor<6x4xf32>
  %1 = graph.matmul %0, %w {transpose_rhs} : tensor<6x4xf32>, tensor<8x4xf32>
  %2 = graph.add %1, %b : tensor<6x8xf32>, tensor<8xf32>
  %3 = graph.reshape %2 {graph.name = "y"} : tensor<6x8xf32> to tensor<2x3x8xf32>
  return %3 : tensor<2x3x8xf32>
}

// Names are no part of what an op computes.
// CHECK-LABEL: @equal_ops_are_merged
func.func @equal_ops_are_merged(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[E:.*]] = graph.exp %arg0 {graph.name = "a"}
  // CHECK-NEXT: graph.add %[[E]], %[[E]]
  %0 = graph.exp %x {graph.name = "a"} : tensor<4xf32>
  %1 = graph.exp %x {graph.name = "b"} : tensor<4xf32>
  %2 = graph.add %0, %1 : tensor<4xf32>, tensor<4xf32>
  return %2 : tensor<4xf32>
}

// One element of each row: the rows become a batch dim, which can be split.
// CHECK-LABEL: @rows_in_indices_are_a_batch_dim
func.func @rows_in_indices_are_a_batch_dim(%x: tensor<3x5x4xf32>, %m: tensor<3x5xi1>) -> tensor<3x4xf32> {
  // CHECK:      %[[I:.*]] = graph.reshape %{{.*}} : tensor<3xi64> to tensor<3x1xi64>
  // CHECK-NEXT: graph.gather_nd %arg0, %[[I]] {batch_dims = 1 : i64}
  %i = graph.cast %m : tensor<3x5xi1> to tensor<3x5xi32>
  %0 = graph.arg_reduce max %i over 1 : tensor<3x5xi32>
  %1 = graph.reshape %0 : tensor<3xi64> to tensor<3x1xi64>
  %rows = graph.iota 0 : tensor<3x1xi64>
  %2 = graph.concat %rows, %1 along 1 : tensor<3x1xi64>, tensor<3x1xi64>
  %3 = graph.gather_nd %x, %2 : tensor<3x5x4xf32>, tensor<3x2xi64>
  return %3 : tensor<3x4xf32>
}

// Here rows are listed, and repeated for each of two columns.
// CHECK-LABEL: @listed_rows_are_a_batch_dim
func.func @listed_rows_are_a_batch_dim(%x: tensor<3x5x4xf32>) -> tensor<3x2xf32> {
  // CHECK: graph.gather_nd %arg0, %{{.*}} {batch_dims = 1 : i64} : tensor<3x5x4xf32>, tensor<3x2x2xi64>
  %n = graph.constant dense<[[[0], [0]], [[1], [1]], [[2], [2]]]> : tensor<3x2x1xi64>
  %i = graph.cast %x : tensor<3x5x4xf32> to tensor<3x5x4xi1>
  %j = graph.cast %i : tensor<3x5x4xi1> to tensor<3x5x4xi64>
  %k = graph.slice %j starts [0, 0, 0] sizes [3, 2, 1] steps [1, 1, 1] : tensor<3x5x4xi64>
  %2 = graph.concat %n, %k, %k along 2 : tensor<3x2x1xi64>, tensor<3x2x1xi64>, tensor<3x2x1xi64>
  %3 = graph.gather_nd %x, %2 : tensor<3x5x4xf32>, tensor<3x2x3xi64>
  return %3 : tensor<3x2xf32>
}

// The other exporter's form of it: flat rows, and the position of a maximum behind the row's first.
// CHECK-LABEL: @flat_rows_are_a_batch_dim
func.func @flat_rows_are_a_batch_dim(%x: tensor<3x5x4xf32>, %m: tensor<3x5xf32>) -> tensor<3x4xf32> {
  // CHECK: graph.gather_nd %arg0, %{{.*}} {batch_dims = 1 : i64} : tensor<3x5x4xf32>, tensor<3x1xi64>
  %0 = graph.arg_reduce max %m over 1 : tensor<3x5xf32>
  %first = graph.constant dense<[0, 5, 10]> : tensor<3xi64>
  %1 = graph.add %0, %first : tensor<3xi64>, tensor<3xi64>
  %2 = graph.reshape %x : tensor<3x5x4xf32> to tensor<15x4xf32>
  %3 = graph.gather %2, %1 along 0 : tensor<15x4xf32>, tensor<3xi64>
  return %3 : tensor<3x4xf32>
}

// A product that sums nothing is element-wise.
// CHECK-LABEL: @outer_product
func.func @outer_product(%x: tensor<2x3x1xf32>, %y: tensor<4x1xf32>) -> tensor<2x3x4xf32> {
  // CHECK: %[[ROW:.*]] = graph.reshape %arg1 : tensor<4x1xf32> to tensor<1x4xf32>
  // CHECK: graph.mul %arg0, %[[ROW]] : tensor<2x3x1xf32>, tensor<1x4xf32>
  %z = graph.matmul %x, %y {transpose_rhs} : tensor<2x3x1xf32>, tensor<4x1xf32>
  return %z : tensor<2x3x4xf32>
}

// -----

// A cast that rounds stays, so that the model in f64 does not round; a cast that loses nothing is folded.
// CHECK-LABEL: @casts_of_constants
func.func @casts_of_constants() -> (tensor<2xbf16>, tensor<2xf16>, tensor<2xf32>) {
  // CHECK-DAG: graph.constant dense<{{.*}}> : tensor<2xf32>
  // CHECK-DAG: graph.cast %{{.*}} : tensor<2xf16> to tensor<2xbf16>
  // CHECK-DAG: graph.cast %{{.*}} : tensor<2xbf16> to tensor<2xf16>
  // CHECK-NOT: to tensor<2xf32>
  %0 = graph.constant dense<[0.1, 0.2]> : tensor<2xf16>
  %1 = graph.constant dense<[0.1, 0.2]> : tensor<2xbf16>
  %2 = graph.cast %0 : tensor<2xf16> to tensor<2xbf16>
  %3 = graph.cast %1 : tensor<2xbf16> to tensor<2xf16>
  %4 = graph.cast %0 : tensor<2xf16> to tensor<2xf32>
  return %2, %3, %4 : tensor<2xbf16>, tensor<2xf16>, tensor<2xf32>
}
