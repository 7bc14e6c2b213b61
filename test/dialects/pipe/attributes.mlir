// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// Every attribute that PipeDiscardableAttrs.td declares, where it may stand.
// CHECK: module attributes
// CHECK-SAME: pipe.activation_bytes = array<i64: 1000>
// CHECK-SAME: pipe.stage_of_nodes = {a = 1 : i64}
module attributes {
  pipe.stages = 2 : i64, pipe.virtual_stages = 1 : i64, pipe.microbatches = 4 : i64, pipe.schedule = "csv",
  pipe.table = "0F0", pipe.stage_at = ["a"], pipe.stage_of_nodes = {a = 1 : i64}, pipe.max_held_bytes = 0 : i64,
  pipe.recompute = "auto", pipe.activation_bytes = array<i64: 1000>, pipe.recomputed_flops = array<i64: 64, 0>} {

// CHECK-LABEL: @stage_1
// CHECK-SAME: attributes {pipe.stage = 1 : i64}
func.func @stage_1(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pipe.stage = 1 : i64} {
  // CHECK: {pipe.part = 3 : i64, pipe.stage = 1 : i64}
  %y = graph.relu %x {pipe.part = 3 : i64, pipe.stage = 1 : i64} : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @stage_1_update
// CHECK-SAME: {pipe.held = {by = @stage_1, result = 0 : i64}}
// CHECK-SAME: attributes {pipe.action = "U12", pipe.stage = 1 : i64}
func.func @stage_1_update(%x: tensor<4xf32> {pipe.held = {by = @stage_1, result = 0 : i64}})
    attributes {pipe.action = "U12", pipe.stage = 1 : i64} {
  return
}
}
