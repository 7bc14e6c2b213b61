// RUN: pcc-opt %s --apply-optimizer --split-input-file | FileCheck %s

// Momentum is a state; the norm is of all gradients, and clips them.
// CHECK: graph.parameter @pcc.step : tensor<i64> fill 0.000000e+00
// CHECK: graph.parameter @w.momentum : tensor<4x4xf32> fill 0.000000e+00 of @w
// CHECK-LABEL: @main
// CHECK-SAME: -> (tensor<f32> {graph.name = "loss"}, tensor<f32> {graph.name = "grad_norm"},
// CHECK-SAME:   tensor<f64> {graph.name = "lr"})
module attributes {graph.training = {optimizer = "sgd", momentum = 0.9 : f64, lr = 0.1 : f64, clip_norm = 1.0 : f64}} {
  graph.parameter @w : tensor<4x4xf32> trained
  func.func @main(%l: tensor<f32>, %g: tensor<4x4xf32>)
      -> (tensor<f32> {graph.name = "loss"}, tensor<4x4xf32> {graph.gradient_of = @w}) {
    // CHECK-DAG: %[[RATE:.*]] = graph.constant dense<1.000000e-01> : tensor<f64>
    // CHECK: %[[LOSS:.*]] = graph.accumulate %arg0 : tensor<f32>
    // CHECK: %[[G:.*]] = graph.accumulate %arg1 {graph.updates = @w} : tensor<4x4xf32>
    // CHECK: %[[WIDE:.*]] = graph.cast %[[G]] {graph.updates = @w} : tensor<4x4xf32> to tensor<4x4xf64>
    // CHECK: graph.mul %[[WIDE]], %[[WIDE]] {graph.updates = @w}
    // CHECK: %[[ROOT:.*]] = graph.sqrt %{{.*}} : tensor<f64>
    // CHECK: %[[NORM:.*]] = graph.cast %[[ROOT]] : tensor<f64> to tensor<f32>
    // CHECK: graph.set_parameter @pcc.step
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

// -----

// Adagrad adds up squares; what the rate is divided by grows.
// CHECK: graph.parameter @w.sum : tensor<4xf32> fill 0.000000e+00 of @w
// CHECK-LABEL: @main
module attributes {graph.training = {optimizer = "adagrad", lr_decay = 0.5 : f64}} {
  graph.parameter @w : tensor<4xf32> trained
  func.func @main(%l: tensor<f32>, %g: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32> {graph.gradient_of = @w}) {
    // CHECK: %[[G:.*]] = graph.accumulate %arg1
    // CHECK: %[[SUM:.*]] = graph.get_parameter @w.sum
    // CHECK: %[[SQUARE:.*]] = graph.mul %[[G]], %[[G]] {graph.updates = @w}
    // CHECK: graph.add %[[SUM]], %{{.*}} {graph.updates = @w}
    // CHECK: graph.set_parameter @w.sum
    // CHECK: graph.div %{{.*}} {graph.updates = @w} : tensor<f64>, tensor<f64>
    // CHECK: graph.set_parameter @w,
    return %l, %g : tensor<f32>, tensor<4xf32>
  }
}

// -----

// A scaled loss: gradients are divided by the scale, and if their norm is not finite all that is written is what it was. The scale
// doubles or halves.
// CHECK: graph.parameter @pcc.loss_scale : tensor<f32> fill 6.553600e+04
// CHECK: graph.parameter @pcc.finite_steps : tensor<i64> fill 0.000000e+00
// CHECK-LABEL: @main
// CHECK-SAME: tensor<f64> {graph.name = "loss_scale"})
module attributes {graph.precision = f16, graph.training = {optimizer = "sgd", momentum = 0.9 : f64}} {
  graph.parameter @w : tensor<4xf32> trained
  func.func @main(%l: tensor<f32>, %g: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32> {graph.gradient_of = @w}) {
    // CHECK-DAG: %[[SUM:.*]] = graph.accumulate %arg1
    // CHECK-DAG: %[[SCALE:.*]] = graph.get_parameter @pcc.loss_scale
    // CHECK: %[[FACTOR:.*]] = graph.div %{{.*}}, %[[SCALE]]
    // CHECK: %[[G:.*]] = graph.mul %[[SUM]], %[[FACTOR]] {graph.updates = @w}
    // CHECK: %[[ROOT:.*]] = graph.sqrt %{{.*}} : tensor<f64>
    // CHECK: %[[NORM:.*]] = graph.cast %[[ROOT]] : tensor<f64> to tensor<f32>
    // CHECK: %[[FINITE:.*]] = graph.compare lt %[[NORM]]
    // CHECK: %[[STEP:.*]] = graph.select %[[FINITE]]
    // CHECK: graph.set_parameter @pcc.step, %[[STEP]]
    // CHECK: %[[MOMENTUM:.*]] = graph.select %[[FINITE]], %{{.*}} {graph.updates = @w}
    // CHECK: graph.set_parameter @w.momentum, %[[MOMENTUM]]
    // CHECK: %[[W:.*]] = graph.select %[[FINITE]], %{{.*}} {graph.updates = @w}
    // CHECK: graph.set_parameter @w, %[[W]]
    // CHECK: %[[NEXT:.*]] = graph.select %[[FINITE]]
    // CHECK: graph.set_parameter @pcc.loss_scale, %[[NEXT]]
    // CHECK: graph.set_parameter @pcc.finite_steps
    return %l, %g : tensor<f32>, tensor<4xf32>
  }
}

// -----

// A model that says itself how it is trained has its own update: the gradient takes the place of what stood for it, and what
// only one weight's update reads is of that weight, as is its state.
// CHECK: graph.parameter @v : tensor<4xf32> fill 0.000000e+00 of @w
// CHECK-LABEL: @main
// CHECK-SAME: -> (tensor<f32> {graph.name = "loss"}, tensor<f32> {graph.name = "grad_norm"})
module attributes {graph.training = {optimizer = "sgd"}} {
  graph.parameter @w : tensor<4xf32> trained
  graph.parameter @v : tensor<4xf32> fill 0.0
  func.func @main(%l: tensor<f32>, %g: tensor<4xf32>)
      -> (tensor<f32>, tensor<4xf32> {graph.gradient_of = @w}) {
    // CHECK-NOT: graph.loss_gradient
    // CHECK-DAG: %[[G:.*]] = graph.accumulate %arg1 {graph.updates = @w} : tensor<4xf32>
    // CHECK-DAG: %[[V:.*]] = graph.get_parameter @v
    // CHECK-DAG: %[[OLD:.*]] = graph.add %[[V]], %[[V]] {graph.updates = @w}
    // CHECK-DAG: %[[NEW:.*]] = graph.sub %[[OLD]], %[[G]] {graph.updates = @w}
    // CHECK: graph.set_parameter @v, %[[NEW]] {graph.updates = @w}
    // CHECK: graph.set_parameter @w, %[[NEW]] {graph.updates = @w}
    // CHECK: graph.set_parameter @pcc.step
    %s = graph.loss_gradient {graph.gradient_of = @w} : tensor<4xf32>
    %p = graph.accumulate %s : tensor<4xf32>
    %v = graph.get_parameter @v : tensor<4xf32>
    %old = graph.add %v, %v : tensor<4xf32>, tensor<4xf32>
    %new = graph.sub %old, %p : tensor<4xf32>, tensor<4xf32>
    graph.set_parameter @v, %new : tensor<4xf32>
    graph.set_parameter @w, %new : tensor<4xf32>
    return %l, %g : tensor<f32>, tensor<4xf32>
  }
}

// -----

// Squares that are to have one sum in any order become multiples of what the largest of them says.
// CHECK-LABEL: @main
module attributes {graph.reproducible, graph.training = {optimizer = "sgd"}} {
  graph.parameter @w : tensor<4x4xf32> trained
  func.func @main(%l: tensor<f32>, %g: tensor<4x4xf32>) -> (tensor<f32>, tensor<4x4xf32> {graph.gradient_of = @w}) {
    // CHECK-DAG: %[[TWICE_16:.*]] = graph.constant {graph.updates = @w} dense<3.200000e+01> : tensor<f64>
    // CHECK: %[[SQUARES:.*]] = graph.mul {{.*}} : tensor<4x4xf64>, tensor<4x4xf64>
    // CHECK: %[[LARGEST:.*]] = graph.reduce max %[[SQUARES]] over [0, 1]
    // CHECK: %[[SHIFT:.*]] = graph.mul %[[LARGEST]], %[[TWICE_16]]
    // CHECK: %[[SHIFTED:.*]] = graph.add %[[SQUARES]], %[[SHIFT]]
    // CHECK: %[[ROUNDED:.*]] = graph.sub %[[SHIFTED]], %[[SHIFT]]
    // CHECK: graph.reduce sum %[[ROUNDED]] over [0, 1]
    return %l, %g : tensor<f32>, tensor<4x4xf32>
  }
}
