// RUN: pcc-opt %s --group-experts --split-input-file | FileCheck %s

// Ops that stay dense.

!gate = tensor<6x8xf32>
!outputs = tensor<8x6x4xf32>

// Nobody knows of gates that are 0.
// CHECK-LABEL: @all_experts
func.func @all_experts(%gate: !gate, %x: tensor<6x4xf32>, %w: tensor<8x4x4xf32>)
    -> tensor<6x4xf32> {
  // CHECK-NOT: graph.group_rows
  %0 = graph.einsum "td,edh->eth" %x, %w : tensor<6x4xf32>, tensor<8x4x4xf32>
  %1 = graph.einsum "te,etd->td" %gate, %0 : !gate, !outputs
  return %1 : tensor<6x4xf32>
}

// -----

!gate = tensor<6x8xf32>
!outputs = tensor<8x6x4xf32>

// All rows are there already.
// CHECK-LABEL: @no_product
func.func @no_product(%gate: !gate, %y: !outputs) -> tensor<6x4xf32> {
  // CHECK-NOT: graph.group_rows
  %0 = graph.relu %y : !outputs
  %1 = graph.einsum "te,etd->td" %gate, %0 {graph.chosen = 2 : i64} : !gate, !outputs
  return %1 : tensor<6x4xf32>
}

// -----

!gate = tensor<6x8xf32>
!outputs = tensor<8x6x4xf32>

// Somebody else reads what all experts make of all tokens.
// CHECK-LABEL: @other_reader
func.func @other_reader(%gate: !gate, %x: tensor<6x4xf32>, %w: tensor<8x4x4xf32>)
    -> (tensor<6x4xf32>, !outputs) {
  // CHECK-NOT: graph.group_rows
  %0 = graph.einsum "td,edh->eth" %x, %w : tensor<6x4xf32>, tensor<8x4x4xf32>
  %1 = graph.einsum "te,etd->td" %gate, %0 {graph.chosen = 2 : i64} : !gate, !outputs
  return %1, %0 : tensor<6x4xf32>, !outputs
}

// -----

!gate = tensor<6x8xf32>
!outputs = tensor<8x6x4xf32>

// A softmax over the experts mixes their rows.
// CHECK-LABEL: @mixed_rows
func.func @mixed_rows(%gate: !gate, %x: tensor<6x4xf32>, %w: tensor<8x4x4xf32>)
    -> tensor<6x4xf32> {
  // CHECK-NOT: graph.group_rows
  %0 = graph.einsum "td,edh->eth" %x, %w : tensor<6x4xf32>, tensor<8x4x4xf32>
  %1 = graph.softmax %0 over 0 : !outputs
  %2 = graph.einsum "te,etd->td" %gate, %1 {graph.chosen = 2 : i64} : !gate, !outputs
  return %2 : tensor<6x4xf32>
}
