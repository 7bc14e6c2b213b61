// RUN: pcc-opt %s --order-backward --split-input-file | FileCheck %s

// A mask that the backward pass alone reads is made when it does. The weight of the first layer has its gradient last; the second one's
// is reduced and added where it is made.
// CHECK-LABEL: @gradients
// CHECK: func.func @stage_0(
// CHECK: graph.loss_gradient
// CHECK: %[[DW2:.*]] = graph.matmul %{{.*}}, %{{.*}} {{.*}}transpose_lhs
// CHECK-NEXT: %[[R2:.*]] = dist.collective reduce_scatter %[[DW2]]
// CHECK-NEXT: %[[V2:.*]] = graph.reshape %[[R2]]
// CHECK-NEXT: graph.accumulate %[[V2]] sums
// CHECK-NEXT: %[[DY:.*]] = graph.matmul
// CHECK-NEXT: %[[MASK:.*]] = graph.compare
// CHECK-NEXT: graph.select %[[MASK]], %[[DY]]
// CHECK-NEXT: %[[DW1:.*]] = graph.matmul
// CHECK-NEXT: graph.accumulate %[[DW1]] sums
#partial = #dist.sharding<"[-, -] partial sum(dp:2)">
#rows = #dist.sharding<"[4@dp:2, -]">
!t = tensor<4x4xf32>
module @gradients attributes {dist.mesh = #dist.mesh<dp = 2>, pipe.microbatches = 2 : i64, pipe.schedule = "1f1b"} {
  graph.parameter @w1 : !t trained
  graph.parameter @w2 : !t trained
  func.func @stage_0(%x: !t {graph.name = "x"}) attributes {pipe.stage = 0 : i64} {
    %w1 = graph.get_parameter @w1 {pipe.part = 0 : i64} : !t
    %w2 = graph.get_parameter @w2 {pipe.part = 0 : i64} : !t
    %zero = graph.constant dense<0.0> : tensor<f32>
    %h = graph.matmul %x, %w1 {pipe.part = 0 : i64} : !t, !t
    %mask = graph.compare lt %zero, %h {pipe.part = 1 : i64} : tensor<f32>, !t
    %y = graph.relu %h {pipe.part = 0 : i64} : !t
    %z = graph.matmul %y, %w2 {pipe.part = 0 : i64} : !t, !t
    %one = graph.loss_gradient {pipe.part = 1 : i64} : tensor<f32>
    %dz = graph.mul %z, %one {pipe.part = 1 : i64} : !t, tensor<f32>
    %dw2 = graph.matmul %y, %dz {pipe.part = 1 : i64, transpose_lhs} : !t, !t
    %dy = graph.matmul %dz, %w2 {pipe.part = 1 : i64, transpose_rhs} : !t, !t
    %dh = graph.select %mask, %dy, %zero {pipe.part = 1 : i64} : tensor<4x4xi1>, !t, tensor<f32>
    %dw1 = graph.matmul %x, %dh {pipe.part = 1 : i64, transpose_lhs} : !t, !t
    %a1 = graph.accumulate %dw1 sums {pipe.part = 3 : i64} : !t
    %r2 = dist.collective reduce_scatter %dw2 from #partial to #rows shape [4, 4] received 32 value "w2" {pipe.part = 1 : i64} : !t to tensor<2x4xf32>
    %v2 = graph.reshape %r2 {pipe.part = 1 : i64} : tensor<2x4xf32> to tensor<8xf32>
    %a2 = graph.accumulate %v2 sums {pipe.part = 3 : i64} : tensor<8xf32>
    graph.set_parameter @w1, %a1 {pipe.part = 3 : i64} : !t
    return
  }
}

// -----

// The gradient of the loss is the same in every microbatch, or comes from the stage behind: what depends on it does not wait for its
// reader.
// CHECK-LABEL: @elsewhere
// CHECK: func.func @stage_0(
// CHECK: %[[D:.*]] = pipe.receive
// CHECK-NEXT: %[[DW:.*]] = graph.mul %{{.*}}, %[[D]]
// CHECK-NEXT: graph.accumulate %[[DW]]
// CHECK-NEXT: graph.exp
// CHECK: func.func @stage_1(
// CHECK: %[[DW:.*]] = graph.mul
// CHECK-NEXT: graph.accumulate %[[DW]]
// CHECK-NEXT: graph.exp
module @elsewhere attributes {pipe.stages = 2 : i64, pipe.microbatches = 2 : i64, pipe.schedule = "1f1b"} {
  graph.parameter @w : tensor<2xf32> trained
  func.func @stage_1_shared() -> tensor<2xf32> attributes {pipe.stage = 1 : i64, pipe.action = "UNSHARD"} {
    %d = graph.loss_gradient : tensor<2xf32>
    return %d : tensor<2xf32>
  }
  func.func @stage_0(%x: tensor<2xf32> {graph.name = "x"}) attributes {pipe.stage = 0 : i64} {
    %d = pipe.receive from 1 value "d" {pipe.part = 1 : i64} : tensor<2xf32>
    %dw = graph.mul %x, %d {pipe.part = 1 : i64} : tensor<2xf32>, tensor<2xf32>
    %e = graph.exp %d {pipe.part = 1 : i64} : tensor<2xf32>
    %f = graph.mul %e, %d {pipe.part = 1 : i64} : tensor<2xf32>, tensor<2xf32>
    %de = graph.accumulate %f sums {pipe.part = 3 : i64} : tensor<2xf32>
    %a = graph.accumulate %dw sums {pipe.part = 3 : i64} : tensor<2xf32>
    return
  }
  func.func @stage_1(%x: tensor<2xf32> {graph.name = "y"},
                     %d: tensor<2xf32> {pipe.held = {by = @stage_1_shared, result = 0 : i64}}) attributes {pipe.stage = 1 : i64} {
    %dw = graph.mul %x, %d {pipe.part = 1 : i64} : tensor<2xf32>, tensor<2xf32>
    %e = graph.exp %d {pipe.part = 1 : i64} : tensor<2xf32>
    %f = graph.mul %e, %d {pipe.part = 1 : i64} : tensor<2xf32>, tensor<2xf32>
    %de = graph.accumulate %f sums {pipe.part = 3 : i64} : tensor<2xf32>
    %a = graph.accumulate %dw sums {pipe.part = 3 : i64} : tensor<2xf32>
    return
  }
}
