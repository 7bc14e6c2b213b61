// RUN: pcc-opt %s --split-actions --split-input-file | FileCheck %s

// F keeps what B needs; B adds its gradient to that of the microbatches before, and U takes the sum.
// CHECK-LABEL: func.func @stage_0(
// CHECK-SAME: %[[X:.*]]: tensor<4x2xf32> {graph.name = "x"}) -> (tensor<4x2xf32>, tensor<f32>)
// CHECK: %[[H:.*]] = graph.exp %[[X]]
// CHECK: return %[[H]], %{{.*}}
// CHECK-LABEL: func.func @stage_0_backward(
// CHECK-SAME: %[[HELD:.*]]: tensor<4x2xf32> {pipe.held = {by = @stage_0, result = 0 : i64}}
// CHECK-SAME: %[[BEFORE:.*]]: tensor<2xf32> {pipe.held = {by = @stage_0_backward, result = 0 : i64}}) -> tensor<2xf32>
// CHECK-SAME: pipe.action = "B"
// CHECK: %[[ONE:.*]] = graph.loss_gradient
// CHECK: %[[D:.*]] = graph.mul %[[HELD]], %[[ONE]]
// CHECK: %[[G:.*]] = graph.reduce sum %[[D]] over [0]
// CHECK: %[[SUM:.*]] = graph.add %[[BEFORE]], %[[G]]
// CHECK: return %[[SUM]]
// CHECK-LABEL: func.func @stage_0_update_0(
// CHECK-SAME: %[[ALL:arg1]]: tensor<2xf32> {pipe.held = {by = @stage_0_backward, result = 0 : i64}}
// CHECK-SAME: -> (tensor<f32> {graph.name = "loss"})
// CHECK-SAME: pipe.action = "U0"
// CHECK: graph.set_parameter @w, %[[ALL]]
module attributes {pipe.microbatches = 2 : i64, pipe.schedule = "1f1b"} {
  graph.parameter @w : tensor<2xf32> trained
  func.func @stage_0(%x: tensor<4x2xf32> {graph.name = "x"}) -> (tensor<f32> {graph.name = "loss"})
      attributes {pipe.stage = 0 : i64} {
    %h = graph.exp %x {pipe.part = 0 : i64} : tensor<4x2xf32>
    %s = graph.reduce sum %h over [0, 1] {pipe.part = 0 : i64} : tensor<4x2xf32>
    %one = graph.loss_gradient {pipe.part = 1 : i64} : tensor<f32>
    %d = graph.mul %h, %one {pipe.part = 1 : i64} : tensor<4x2xf32>, tensor<f32>
    %g = graph.reduce sum %d over [0] {pipe.part = 1 : i64} : tensor<4x2xf32>
    %l = graph.accumulate %s {pipe.part = 3 : i64} : tensor<f32>
    %a = graph.accumulate %g sums {pipe.part = 3 : i64} : tensor<2xf32>
    graph.set_parameter @w, %a {pipe.part = 3 : i64} : tensor<2xf32>
    return %l : tensor<f32>
  }
}

// -----

// Where the schedule splits the backward pass, I is what the stage sends depends on, W the rest.
// CHECK-LABEL: func.func @stage_1_input_gradient(
// CHECK: graph.matmul
// CHECK: pipe.send
// CHECK-LABEL: func.func @stage_1_weight_gradient(
// CHECK-SAME: pipe.action = "W"
// CHECK: graph.matmul %{{.*}}, %{{.*}} {transpose_lhs}
// CHECK-NOT: pipe.send
// CHECK-LABEL: func.func @stage_1_update_0(
module attributes {pipe.microbatches = 2 : i64, pipe.schedule = "zb-h1"} {
  graph.parameter @w : tensor<2x2xf32> trained
  func.func @stage_1() attributes {pipe.stage = 1 : i64} {
    %w = graph.get_parameter @w {pipe.part = 0 : i64} : tensor<2x2xf32>
    %x = pipe.receive from 0 value "x" {pipe.part = 0 : i64} : tensor<4x2xf32>
    %y = graph.matmul %x, %w {pipe.part = 0 : i64} : tensor<4x2xf32>, tensor<2x2xf32>
    %one = graph.loss_gradient {pipe.part = 1 : i64} : tensor<f32>
    %d = graph.mul %y, %one {pipe.part = 1 : i64} : tensor<4x2xf32>, tensor<f32>
    %dx = graph.matmul %d, %w {pipe.part = 1 : i64, transpose_rhs} : tensor<4x2xf32>, tensor<2x2xf32>
    %dw = graph.matmul %x, %d {pipe.part = 1 : i64, transpose_lhs} : tensor<4x2xf32>, tensor<4x2xf32>
    %a = graph.accumulate %dw sums {pipe.part = 3 : i64} : tensor<2x2xf32>
    graph.set_parameter @w, %a {pipe.part = 3 : i64} : tensor<2x2xf32>
    pipe.send %dx to 0 value "dx" {pipe.part = 1 : i64} : tensor<4x2xf32>
    return
  }
}

// -----

// In a table of one's own each stage has its own form of backward pass.
// CHECK-LABEL: func.func @stage_0_backward(
// CHECK-LABEL: func.func @stage_1_input_gradient(
// CHECK-LABEL: func.func @stage_1_weight_gradient(
module attributes {pipe.stages = 2 : i64, pipe.schedule = "csv", pipe.table = "0F0,0B0\0A1F0,1I0,1W0"} {
  graph.parameter @w : tensor<2x2xf32> trained
  func.func @stage_0() attributes {pipe.stage = 0 : i64} {
    %x = graph.get_parameter @w {pipe.part = 0 : i64} : tensor<2x2xf32>
    %y = graph.exp %x {pipe.part = 0 : i64} : tensor<2x2xf32>
    %d = graph.mul %y, %y {pipe.part = 1 : i64} : tensor<2x2xf32>, tensor<2x2xf32>
    pipe.send %y to 1 value "y" {pipe.part = 0 : i64} : tensor<2x2xf32>
    return
  }
  func.func @stage_1() attributes {pipe.stage = 1 : i64} {
    %x = pipe.receive from 0 value "y" {pipe.part = 0 : i64} : tensor<2x2xf32>
    %y = graph.exp %x {pipe.part = 0 : i64} : tensor<2x2xf32>
    %d = graph.mul %y, %x {pipe.part = 1 : i64} : tensor<2x2xf32>, tensor<2x2xf32>
    %g = graph.matmul %d, %y {pipe.part = 1 : i64} : tensor<2x2xf32>, tensor<2x2xf32>
    pipe.send %d to 0 value "d" {pipe.part = 1 : i64} : tensor<2x2xf32>
    return
  }
}

// -----

// Inference has nothing to split.
// CHECK-LABEL: func.func @stage_0(
// CHECK-NOT: func.func
module attributes {pipe.microbatches = 2 : i64} {
  func.func @stage_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {pipe.stage = 0 : i64} {
    %y = graph.exp %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

// A stage whose weights are frozen has a backward pass that does nothing.
// CHECK-LABEL: func.func @frozen(
// CHECK: graph.exp
// CHECK-LABEL: func.func @frozen_input_gradient()
// CHECK-SAME: pipe.action = "I"
// CHECK-LABEL: func.func @frozen_weight_gradient()
// CHECK-SAME: pipe.action = "W"
module attributes {pipe.microbatches = 2 : i64, pipe.schedule = "zb-h1"} {
  func.func @frozen(%x: tensor<4x2xf32> {graph.name = "x"}) attributes {pipe.stage = 0 : i64} {
    %h = graph.exp %x {pipe.part = 0 : i64} : tensor<4x2xf32>
    pipe.send %h to 1 value "h" {pipe.part = 0 : i64} : tensor<4x2xf32>
    return
  }
}
