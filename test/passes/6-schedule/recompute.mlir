// RUN: pcc-opt %s --recompute --split-input-file | FileCheck %s

// Without recomputation a transpose of what is kept is made again all the same: it takes a copy, but computes nothing.
// CHECK-LABEL: func.func @stage_0(
// CHECK: %[[H:.*]] = graph.exp
// CHECK: %[[ONE:.*]] = graph.loss_gradient
// CHECK: graph.mul %[[H]], %[[ONE]] {pipe.part = 1
// CHECK: %[[T:.*]] = graph.transpose %[[H]] [1, 0] {pipe.part = 1
// CHECK: graph.mul %[[T]], %[[ONE]] {pipe.part = 1
module attributes {pipe.microbatches = 2 : i64, pipe.schedule = "1f1b"} {
  graph.parameter @w : tensor<4x2xf32> trained
  func.func @stage_0(%x: tensor<4x2xf32> {graph.name = "x"}) attributes {pipe.stage = 0 : i64} {
    %h = graph.exp %x {pipe.part = 0 : i64} : tensor<4x2xf32>
    %t = graph.transpose %h [1, 0] {pipe.part = 0 : i64} : tensor<4x2xf32>
    %s = graph.matmul %h, %t {pipe.part = 0 : i64} : tensor<4x2xf32>, tensor<2x4xf32>
    %one = graph.loss_gradient {pipe.part = 1 : i64} : tensor<f32>
    %d = graph.mul %h, %one {pipe.part = 1 : i64} : tensor<4x2xf32>, tensor<f32>
    %e = graph.mul %t, %one {pipe.part = 1 : i64} : tensor<2x4xf32>, tensor<f32>
    %f = graph.transpose %e [1, 0] {pipe.part = 1 : i64} : tensor<2x4xf32>
    %g = graph.add %d, %f {pipe.part = 1 : i64} : tensor<4x2xf32>, tensor<4x2xf32>
    %a = graph.accumulate %g sums {pipe.part = 3 : i64} : tensor<4x2xf32>
    graph.set_parameter @w, %a {pipe.part = 3 : i64} : tensor<4x2xf32>
    return
  }
}

// -----

// Two cheap results are made again of one kept value, each right before it is read; the matmul is not.
// CHECK-LABEL: @selective
// CHECK: func.func @stage_0(
// CHECK: %[[Y:.*]] = graph.matmul %{{.*}}, %{{.*}} {pipe.part = 0
// CHECK: graph.loss_gradient
// CHECK-NEXT: %[[K:.*]] = graph.exp %[[Y]] {pipe.part = 1
// CHECK-NEXT: graph.matmul %{{.*}}, %[[K]] {pipe.part = 1
// CHECK-NEXT: %[[H:.*]] = graph.tanh %[[Y]] {pipe.part = 1
// CHECK-NEXT: graph.matmul %{{.*}}, %[[H]] {pipe.part = 1
module @selective attributes {pipe.recompute = "selective", pipe.microbatches = 4 : i64, pipe.schedule = "1f1b"} {
  graph.parameter @w : tensor<8x8xf32> trained
  func.func @stage_0(%x: tensor<4x8xf32> {graph.name = "x"}) attributes {pipe.stage = 0 : i64} {
    %w = graph.get_parameter @w {pipe.part = 0 : i64} : tensor<8x8xf32>
    %y = graph.matmul %x, %w {pipe.part = 0 : i64} : tensor<4x8xf32>, tensor<8x8xf32>
    %h = graph.tanh %y {pipe.part = 0 : i64} : tensor<4x8xf32>
    %k = graph.exp %y {pipe.part = 0 : i64} : tensor<4x8xf32>
    %z = graph.matmul %h, %k {pipe.part = 0 : i64, transpose_rhs} : tensor<4x8xf32>, tensor<4x8xf32>
    %dz = graph.loss_gradient {pipe.part = 1 : i64} : tensor<4x4xf32>
    %dh = graph.matmul %dz, %k {pipe.part = 1 : i64} : tensor<4x4xf32>, tensor<4x8xf32>
    %dk = graph.matmul %dz, %h {pipe.part = 1 : i64, transpose_lhs} : tensor<4x4xf32>, tensor<4x8xf32>
    %dy = graph.mul %dh, %dk {pipe.part = 1 : i64} : tensor<4x8xf32>, tensor<4x8xf32>
    %dw = graph.matmul %x, %dy {pipe.part = 1 : i64, transpose_lhs} : tensor<4x8xf32>, tensor<4x8xf32>
    %a = graph.accumulate %dw sums {pipe.part = 3 : i64} : tensor<8x8xf32>
    graph.set_parameter @w, %a {pipe.part = 3 : i64} : tensor<8x8xf32>
    return
  }
}

// -----

// All is made again of the stage's input, and what two results need once. The operations are those of one microbatch.
// CHECK-LABEL: @full
// CHECK-SAME: pipe.recomputed_flops = array<i64: 576>
// CHECK: graph.loss_gradient
// CHECK-NEXT: %[[Y:.*]] = graph.matmul %{{.*}}, %{{.*}} {pipe.part = 1
// CHECK-NEXT: %[[K:.*]] = graph.exp %[[Y]]
// CHECK-NEXT: graph.matmul %{{.*}}, %[[K]]
// CHECK-NEXT: %[[H:.*]] = graph.tanh %[[Y]]
// CHECK-NEXT: graph.matmul %{{.*}}, %[[H]]
module @full attributes {pipe.recompute = "full", pipe.microbatches = 4 : i64, pipe.schedule = "gpipe"} {
  graph.parameter @w : tensor<8x8xf32> trained
  func.func @stage_0(%x: tensor<4x8xf32> {graph.name = "x"}) attributes {pipe.stage = 0 : i64} {
    %w = graph.get_parameter @w {pipe.part = 0 : i64} : tensor<8x8xf32>
    %y = graph.matmul %x, %w {pipe.part = 0 : i64} : tensor<4x8xf32>, tensor<8x8xf32>
    %h = graph.tanh %y {pipe.part = 0 : i64} : tensor<4x8xf32>
    %k = graph.exp %y {pipe.part = 0 : i64} : tensor<4x8xf32>
    %z = graph.matmul %h, %k {pipe.part = 0 : i64, transpose_rhs} : tensor<4x8xf32>, tensor<4x8xf32>
    %dz = graph.loss_gradient {pipe.part = 1 : i64} : tensor<4x4xf32>
    %dh = graph.matmul %dz, %k {pipe.part = 1 : i64} : tensor<4x4xf32>, tensor<4x8xf32>
    %dk = graph.matmul %dz, %h {pipe.part = 1 : i64, transpose_lhs} : tensor<4x4xf32>, tensor<4x8xf32>
    %dy = graph.mul %dh, %dk {pipe.part = 1 : i64} : tensor<4x8xf32>, tensor<4x8xf32>
    %dw = graph.matmul %x, %dy {pipe.part = 1 : i64, transpose_lhs} : tensor<4x8xf32>, tensor<4x8xf32>
    %a = graph.accumulate %dw sums {pipe.part = 3 : i64} : tensor<8x8xf32>
    graph.set_parameter @w, %a {pipe.part = 3 : i64} : tensor<8x8xf32>
    return
  }
}

// -----

// Four microbatches are in flight: 1152 bytes with nothing made again, 768 if what is cheap is, 384 with all.
// CHECK-LABEL: @auto
// CHECK-SAME: pipe.recomputed_flops = array<i64: 64>
// CHECK: graph.loss_gradient
// CHECK-NEXT: graph.exp
// CHECK-NEXT: graph.matmul
// CHECK-NEXT: graph.tanh
// CHECK-NEXT: graph.matmul
module @auto attributes {pipe.activation_bytes = array<i64: 1000>, pipe.recompute = "auto", pipe.microbatches = 4 : i64, pipe.schedule = "gpipe"} {
  graph.parameter @w : tensor<8x8xf32> trained
  func.func @stage_0(%x: tensor<4x8xf32> {graph.name = "x"}) attributes {pipe.stage = 0 : i64} {
    %w = graph.get_parameter @w {pipe.part = 0 : i64} : tensor<8x8xf32>
    %y = graph.matmul %x, %w {pipe.part = 0 : i64} : tensor<4x8xf32>, tensor<8x8xf32>
    %h = graph.tanh %y {pipe.part = 0 : i64} : tensor<4x8xf32>
    %k = graph.exp %y {pipe.part = 0 : i64} : tensor<4x8xf32>
    %z = graph.matmul %h, %k {pipe.part = 0 : i64, transpose_rhs} : tensor<4x8xf32>, tensor<4x8xf32>
    %dz = graph.loss_gradient {pipe.part = 1 : i64} : tensor<4x4xf32>
    %dh = graph.matmul %dz, %k {pipe.part = 1 : i64} : tensor<4x4xf32>, tensor<4x8xf32>
    %dk = graph.matmul %dz, %h {pipe.part = 1 : i64, transpose_lhs} : tensor<4x4xf32>, tensor<4x8xf32>
    %dy = graph.mul %dh, %dk {pipe.part = 1 : i64} : tensor<4x8xf32>, tensor<4x8xf32>
    %dw = graph.matmul %x, %dy {pipe.part = 1 : i64, transpose_lhs} : tensor<4x8xf32>, tensor<4x8xf32>
    %a = graph.accumulate %dw sums {pipe.part = 3 : i64} : tensor<8x8xf32>
    graph.set_parameter @w, %a {pipe.part = 3 : i64} : tensor<8x8xf32>
    return
  }
}
