// RUN: pcc-opt %s --simplify-graph --split-input-file | FileCheck %s

// Ops that look removable, but are not.

// A sum that also broadcasts is more than its operand.
// CHECK-LABEL: @neutral_operand_that_broadcasts
func.func @neutral_operand_that_broadcasts(%x: tensor<4xf32>, %y: tensor<2x1xf32>) -> tensor<2x4xf32> {
  // CHECK: graph.add
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.mul %y, %zero : tensor<2x1xf32>, tensor<f32>
  %1 = graph.add %x, %0 : tensor<4xf32>, tensor<2x1xf32>
  return %1 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: @cast_that_rounds
func.func @cast_that_rounds(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-COUNT-2: graph.cast
  %0 = graph.cast %x : tensor<4xf32> to tensor<4xbf16>
  %1 = graph.cast %0 : tensor<4xbf16> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A constant that is repeated over the batch would grow with it.
// CHECK-LABEL: @repeated_constants
func.func @repeated_constants() -> tensor<8x3xf32> {
  // CHECK: graph.broadcast
  %0 = graph.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %1 = graph.broadcast %0 : tensor<3xf32> to tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}

// -----

// A slice that reads from both sides of a concat.
// CHECK-LABEL: @slice_across_a_concat
func.func @slice_across_a_concat(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<2xf32> {
  // CHECK: graph.concat
  %0 = graph.concat %x, %y along 0 : tensor<4xf32>, tensor<4xf32>
  %1 = graph.slice %0 starts [3] sizes [2] steps [1] : tensor<8xf32>
  return %1 : tensor<2xf32>
}

// -----

// A split that would need a reshape of an input moves nowhere.
// CHECK-LABEL: @split_without_a_merge
func.func @split_without_a_merge(%x: tensor<6x4xf32>, %y: tensor<6x4xf32>) -> tensor<2x3x4xf32> {
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.reshape
  %0 = graph.add %x, %y : tensor<6x4xf32>, tensor<6x4xf32>
  %1 = graph.reshape %0 : tensor<6x4xf32> to tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// -----

// The user has a sharding for %t: it stays, and nothing is read through it.
module attributes {dist.seeds = ["t*=[tp,-]"]} {
  // CHECK-LABEL: @named_in_a_seed
  func.func @named_in_a_seed(%x: tensor<2x4xf32>, %w: tensor<8x4xf32>) -> tensor<2x8xf32> {
    // CHECK-NEXT: graph.transpose %arg1 [1, 0] {graph.name = "table"}
    // CHECK-NOT:  graph.pinned
    %t = graph.transpose %w [1, 0] {graph.name = "table"} : tensor<8x4xf32>
    %y = graph.matmul %x, %t : tensor<2x4xf32>, tensor<4x8xf32>
    return %y : tensor<2x8xf32>
  }
}

// -----

// Rows in another order.
// CHECK-LABEL: @rows_that_do_not_count
func.func @rows_that_do_not_count(%x: tensor<3x5xf32>, %i: tensor<3x1xi64>) -> tensor<3xf32> {
  // CHECK: graph.gather_nd %arg0, %{{.*}} : tensor<3x5xf32>, tensor<3x2xi64>
  %rows = graph.constant dense<[[0], [2], [1]]> : tensor<3x1xi64>
  %0 = graph.concat %rows, %i along 1 : tensor<3x1xi64>, tensor<3x1xi64>
  %1 = graph.gather_nd %x, %0 : tensor<3x5xf32>, tensor<3x2xi64>
  return %1 : tensor<3xf32>
}

// -----

// A position that may lie in the next row.
// CHECK-LABEL: @flat_rows_with_any_position
func.func @flat_rows_with_any_position(%x: tensor<3x5x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  // CHECK: graph.gather %
  %first = graph.constant dense<[0, 5, 10]> : tensor<3xi64>
  %0 = graph.add %i, %first : tensor<3xi64>, tensor<3xi64>
  %1 = graph.reshape %x : tensor<3x5x4xf32> to tensor<15x4xf32>
  %2 = graph.gather %1, %0 along 0 : tensor<15x4xf32>, tensor<3xi64>
  return %2 : tensor<3x4xf32>
}
