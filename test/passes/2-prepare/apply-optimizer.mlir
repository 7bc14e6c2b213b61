// RUN: pcc-opt %s --apply-optimizer --split-input-file | FileCheck %s

// Momentum is a state; the norm is of all gradients, and clips them.
// CHECK: graph.parameter @pcc.step : tensor<i64> fill 0.000000e+00
// CHECK: graph.parameter @w.momentum : tensor<4x4xf32> fill 0.000000e+00 of @w
// CHECK-LABEL: @main
// CHECK-SAME: -> (tensor<f32> {graph.name = "loss"}, tensor<f32> {graph.name = "grad_norm"}, tensor<f64> {graph.name = "lr"})
module attributes {graph.training = {optimizer = "sgd", momentum = 0.9 : f64, lr = 0.1 : f64, clip_norm = 1.0 : f64}} {
  graph.parameter @w : tensor<4x4xf32> trained
  func.func @main(%l: tensor<f32>, %g: tensor<4x4xf32>)
      -> (tensor<f32> {graph.name = "loss"}, tensor<4x4xf32> {graph.gradient_of = @w}) {
    // CHECK-DAG: %[[RATE:.*]] = graph.constant dense<1.000000e-01> : tensor<f64>
    // CHECK: %[[LOSS:.*]] = graph.accumulate %arg0 : tensor<f32>
    // CHECK: %[[G:.*]] = graph.accumulate %arg1 {graph.updates = @w} : tensor<4x4xf32>
    // CHECK: graph.set_parameter @pcc.step
    // CHECK: graph.mul %[[G]], %[[G]] {graph.updates = @w}
    // CHECK: %[[NORM:.*]] = graph.sqrt
    // CHECK: graph.min
    // CHECK: graph.mul %[[G]], %{{.*}} {graph.updates = @w}
    // CHECK: graph.get_parameter @w.momentum {graph.updates = @w}
    // CHECK: graph.set_parameter @w.momentum
    // CHECK: graph.set_parameter @w,
    // CHECK: return %[[LOSS]], %[[NORM]], %[[RATE]]
    return %l, %g : tensor<f32>, tensor<4x4xf32>
  }
}

// -----

// A weight with two uses sums what each of them has accumulated.
// CHECK-LABEL: @main
module attributes {graph.training = {optimizer = "sgd"}} {
  graph.parameter @w : tensor<4xf32> trained
  func.func @main(%l: tensor<f32>, %g: tensor<4xf32>, %h: tensor<4xf32>)
      -> (tensor<f32>, tensor<4xf32> {graph.gradient_of = @w}, tensor<4xf32> {graph.gradient_of = @w}) {
    // CHECK: %[[A:.*]] = graph.accumulate %arg1
    // CHECK: %[[B:.*]] = graph.accumulate %arg2
    // CHECK: graph.add %[[A]], %[[B]] {graph.updates = @w}
    // CHECK-NOT: graph.min
    return %l, %g, %h : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// AdamW decays tensors of two or more dims, and corrects its averages in f64; the rate falls as half a cosine.
// CHECK-LABEL: @main
module attributes {graph.training = {optimizer = "adamw", lr_schedule = "cosine(steps=10, warmup=2)"}} {
  graph.parameter @w : tensor<4x4xf32> trained
  graph.parameter @b : tensor<4xf32> trained
  func.func @main(%l: tensor<f32>, %g: tensor<4x4xf32>, %h: tensor<4xf32>)
      -> (tensor<f32>, tensor<4x4xf32> {graph.gradient_of = @w}, tensor<4xf32> {graph.gradient_of = @b}) {
    // CHECK: graph.cos
    // CHECK: graph.concat
    // CHECK: graph.mul %{{.*}}, %{{.*}} {graph.updates = @w} : tensor<4x4xf32>, tensor<f32>
    // CHECK: graph.set_parameter @w.exp_avg,
    // CHECK: graph.set_parameter @w.exp_avg_sq,
    // CHECK: graph.pow %{{.*}} {graph.updates = @w} : tensor<f64>, tensor<f64>
    // CHECK: graph.set_parameter @w,
    // CHECK: graph.set_parameter @b,
    return %l, %g, %h : tensor<f32>, tensor<4x4xf32>, tensor<4xf32>
  }
}
