// RUN: pcc-opt %s --differentiate --split-input-file 2>/dev/null | FileCheck %s
// RUN: pcc-opt %s --differentiate --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=NOTE

// All weights get a gradient, also the one of one element; what is made for it says whose gradient it is part of.
// NOTE: trains 3 of 4 weights (13 parameters): w, b, scale
// CHECK: graph.parameter @w : tensor<2x4xf32> trained
// CHECK: graph.parameter @b : tensor<4xf32> trained
// CHECK-LABEL: @main
// CHECK-SAME: -> (tensor<f32> {graph.name = "loss"}, tensor<2x4xf32> {graph.gradient_of = @w},
// CHECK-SAME:   tensor<4xf32> {graph.gradient_of = @b}, tensor<1xf32> {graph.gradient_of = @scale})
module attributes {graph.training = {loss = "loss"}} {
  graph.parameter @w : tensor<2x4xf32>
  graph.parameter @b : tensor<4xf32>
  graph.parameter @mean : tensor<4xf32> buffer
  graph.parameter @scale : tensor<1xf32>
  func.func @main(%x: tensor<8x2xf32>) -> (tensor<f32> {graph.name = "loss"}) {
    %w = graph.get_parameter @w : tensor<2x4xf32>
    %b = graph.get_parameter @b : tensor<4xf32>
    %m = graph.get_parameter @mean : tensor<4xf32>
    %s = graph.get_parameter @scale : tensor<1xf32>
    // CHECK: graph.matmul %arg0, %{{.*}} {graph.number = [[PRODUCT:.*]] : i64}
    %y = graph.matmul %x, %w : tensor<8x2xf32>, tensor<2x4xf32>
    %z = graph.add %y, %b : tensor<8x4xf32>, tensor<4xf32>
    %c = graph.sub %z, %m : tensor<8x4xf32>, tensor<4xf32>
    %d = graph.mul %c, %s : tensor<8x4xf32>, tensor<1xf32>
    %l = graph.reduce sum %d over [0, 1] : tensor<8x4xf32>
    // CHECK: graph.loss_gradient : tensor<f32>
    // CHECK: %[[W:.*]] = graph.matmul %arg0, %{{.*}} {graph.mirrors = [[PRODUCT]] : i64, transpose_lhs}
    // CHECK: return %{{.*}}, %[[W]], %{{.*}}, %{{.*}} : tensor<f32>, tensor<2x4xf32>, tensor<4xf32>, tensor<1xf32>
    return %l : tensor<f32>
  }
}

// -----

// Each use of a weight has a gradient of its own, through views of its own: they may be on different stages.
// NOTE: trains all 1 weight (16 parameters)
// CHECK-LABEL: @main
// CHECK-SAME: tensor<4x4xf32> {graph.gradient_of = @tied}, tensor<4x4xf32> {graph.gradient_of = @tied}
module attributes {graph.training = {loss = "loss"}} {
  graph.parameter @tied : tensor<4x4xf32>
  func.func @main(%x: tensor<8x4xf32>) -> (tensor<f32> {graph.name = "loss"}) {
    // CHECK-COUNT-2: graph.get_parameter @tied
    %w = graph.get_parameter @tied : tensor<4x4xf32>
    // CHECK-COUNT-2: graph.transpose
    %t = graph.transpose %w [1, 0] : tensor<4x4xf32>
    %y = graph.matmul %x, %t : tensor<8x4xf32>, tensor<4x4xf32>
    %z = graph.matmul %y, %t : tensor<8x4xf32>, tensor<4x4xf32>
    %l = graph.reduce sum %z over [0, 1] : tensor<8x4xf32>
    return %l : tensor<f32>
  }
}

// -----

// The user says what trains, by globs.
// NOTE: trains 1 of 3 weights (4 parameters): head.b
// CHECK: graph.parameter @head.w : tensor<4xf32>{{$}}
// CHECK: graph.parameter @head.b : tensor<4xf32> trained
// CHECK: graph.parameter @body : tensor<4xf32>{{$}}
module attributes {graph.training = {loss = "loss", train_only = ["head.*"], freeze = ["*.w"]}} {
  graph.parameter @head.w : tensor<4xf32>
  graph.parameter @head.b : tensor<4xf32>
  graph.parameter @body : tensor<4xf32>
  func.func @main() -> (tensor<f32> {graph.name = "loss"}) {
    %w = graph.get_parameter @head.w : tensor<4xf32>
    %b = graph.get_parameter @head.b : tensor<4xf32>
    %c = graph.get_parameter @body : tensor<4xf32>
    %y = graph.mul %w, %b : tensor<4xf32>, tensor<4xf32>
    %z = graph.mul %y, %c : tensor<4xf32>, tensor<4xf32>
    %l = graph.reduce sum %z over [0] : tensor<4xf32>
    return %l : tensor<f32>
  }
}

// -----

// Few that do not train are named in place of many that do.
// NOTE: trains 5 of 6 weights (20 parameters), all but w5{{$}}
// CHECK: graph.parameter @w0
module attributes {graph.training = {loss = "loss", freeze = ["w5"]}} {
  graph.parameter @w0 : tensor<4xf32>
  graph.parameter @w1 : tensor<4xf32>
  graph.parameter @w2 : tensor<4xf32>
  graph.parameter @w3 : tensor<4xf32>
  graph.parameter @w4 : tensor<4xf32>
  graph.parameter @w5 : tensor<4xf32>
  func.func @main() -> (tensor<f32> {graph.name = "loss"}) {
    %w0 = graph.get_parameter @w0 : tensor<4xf32>
    %w1 = graph.get_parameter @w1 : tensor<4xf32>
    %w2 = graph.get_parameter @w2 : tensor<4xf32>
    %w3 = graph.get_parameter @w3 : tensor<4xf32>
    %w4 = graph.get_parameter @w4 : tensor<4xf32>
    %w5 = graph.get_parameter @w5 : tensor<4xf32>
    %s1 = graph.mul %w0, %w1 : tensor<4xf32>, tensor<4xf32>
    %s2 = graph.mul %s1, %w2 : tensor<4xf32>, tensor<4xf32>
    %s3 = graph.mul %s2, %w3 : tensor<4xf32>, tensor<4xf32>
    %s4 = graph.mul %s3, %w4 : tensor<4xf32>, tensor<4xf32>
    %s5 = graph.mul %s4, %w5 : tensor<4xf32>, tensor<4xf32>
    %l = graph.reduce sum %s5 over [0] : tensor<4xf32>
    return %l : tensor<f32>
  }
}

// -----

// A remark about many of both ends in the option that shows all.
// NOTE: trains 5 of 10 weights (20 parameters): w5, w6, w7, w8 and 1 more; --stop-after 2 -o - shows them as 'trained'
// CHECK: graph.parameter @w0
module attributes {graph.training = {loss = "loss", freeze = ["w[0-4]"]}} {
  graph.parameter @w0 : tensor<4xf32>
  graph.parameter @w1 : tensor<4xf32>
  graph.parameter @w2 : tensor<4xf32>
  graph.parameter @w3 : tensor<4xf32>
  graph.parameter @w4 : tensor<4xf32>
  graph.parameter @w5 : tensor<4xf32>
  graph.parameter @w6 : tensor<4xf32>
  graph.parameter @w7 : tensor<4xf32>
  graph.parameter @w8 : tensor<4xf32>
  graph.parameter @w9 : tensor<4xf32>
  func.func @main() -> (tensor<f32> {graph.name = "loss"}) {
    %w0 = graph.get_parameter @w0 : tensor<4xf32>
    %w1 = graph.get_parameter @w1 : tensor<4xf32>
    %w2 = graph.get_parameter @w2 : tensor<4xf32>
    %w3 = graph.get_parameter @w3 : tensor<4xf32>
    %w4 = graph.get_parameter @w4 : tensor<4xf32>
    %w5 = graph.get_parameter @w5 : tensor<4xf32>
    %w6 = graph.get_parameter @w6 : tensor<4xf32>
    %w7 = graph.get_parameter @w7 : tensor<4xf32>
    %w8 = graph.get_parameter @w8 : tensor<4xf32>
    %w9 = graph.get_parameter @w9 : tensor<4xf32>
    %s1 = graph.mul %w0, %w1 : tensor<4xf32>, tensor<4xf32>
    %s2 = graph.mul %s1, %w2 : tensor<4xf32>, tensor<4xf32>
    %s3 = graph.mul %s2, %w3 : tensor<4xf32>, tensor<4xf32>
    %s4 = graph.mul %s3, %w4 : tensor<4xf32>, tensor<4xf32>
    %s5 = graph.mul %s4, %w5 : tensor<4xf32>, tensor<4xf32>
    %s6 = graph.mul %s5, %w6 : tensor<4xf32>, tensor<4xf32>
    %s7 = graph.mul %s6, %w7 : tensor<4xf32>, tensor<4xf32>
    %s8 = graph.mul %s7, %w8 : tensor<4xf32>, tensor<4xf32>
    %s9 = graph.mul %s8, %w9 : tensor<4xf32>, tensor<4xf32>
    %l = graph.reduce sum %s9 over [0] : tensor<4xf32>
    return %l : tensor<f32>
  }
}

// -----

// The gradient of a scaled loss begins with the scale, where the loss is.
// CHECK: graph.parameter @scaled
module attributes {graph.training = {loss = "loss", loss_scale = "8"}} {
  graph.parameter @scaled : tensor<4xf32>
  func.func @main() -> (tensor<f32> {graph.name = "loss"}) {
    %w = graph.get_parameter @scaled : tensor<4xf32>
    // CHECK: graph.reduce sum %{{.*}} {graph.number = [[LOSS:.*]] : i64}
    %l = graph.reduce sum %w over [0] : tensor<4xf32>
    // CHECK: %[[SEED:.*]] = graph.loss_gradient : tensor<f32>
    // CHECK: %[[SCALE:.*]] = graph.constant dense<8.000000e+00> : tensor<f32>
    // CHECK: %[[SCALED:.*]] = graph.mul %[[SEED]], %[[SCALE]] {graph.mirrors = [[LOSS]] : i64}
    // CHECK: graph.broadcast
    return %l : tensor<f32>
  }
}

// -----

// GPUs have kernels for the gradients of attention, but for rows that do not fit into registers.
// CHECK-LABEL: @of_long_rows
module attributes {dist.target = "cuda", graph.training = {loss = "loss"}} {
  graph.parameter @w : tensor<1x2x4x8xf32>
  graph.parameter @of_long_rows : tensor<1x2x4x136xf32>
  func.func @main(%x: tensor<1x2x4x8xf32>, %z: tensor<1x2x4x136xf32>) -> (tensor<f32> {graph.name = "loss"}) {
    %w = graph.get_parameter @w : tensor<1x2x4x8xf32>
    %u = graph.get_parameter @of_long_rows : tensor<1x2x4x136xf32>
    %y = graph.attention %x, %w, %w {causal, scale = 0.5 : f64} : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
    %v = graph.attention %z, %u, %u {scale = 0.5 : f64} : tensor<1x2x4x136xf32>, tensor<1x2x4x136xf32>, tensor<1x2x4x136xf32>
    %l = graph.reduce sum %y over [0, 1, 2, 3] : tensor<1x2x4x8xf32>
    %k = graph.reduce sum %v over [0, 1, 2, 3] : tensor<1x2x4x136xf32>
    // CHECK: graph.softmax
    // CHECK: %{{.*}}, %[[T:.*]], %[[S:.*]], %[[M:.*]] = graph.attention_query_gradient %arg0,
    // CHECK-SAME:   %{{.*}} {causal, graph.mirrors
    // CHECK-NEXT: graph.attention_key_gradient %arg0, %{{.*}} with %[[T]], %[[S]], %[[M]] {causal, graph.mirrors
    // CHECK-NOT: graph.attention_query_gradient
    // CHECK: return
    %s = graph.add %l, %k : tensor<f32>, tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// The gradients of slices of one value, such as query, key and value of one product, become one concat. What no slice reads is 0.
// CHECK: graph.parameter @joined
module attributes {graph.training = {loss = "loss"}} {
  graph.parameter @joined : tensor<8xf32>
  func.func @main(%x: tensor<8xf32>) -> (tensor<f32> {graph.name = "loss"}) {
    %w = graph.get_parameter @joined : tensor<8xf32>
    %y = graph.mul %x, %w : tensor<8xf32>, tensor<8xf32>
    %q = graph.slice %y starts [4] sizes [2] steps [1] : tensor<8xf32>
    %k = graph.slice %y starts [0] sizes [2] steps [1] : tensor<8xf32>
    %l = graph.reduce sum %q over [0] : tensor<2xf32>
    %m = graph.reduce sum %k over [0] : tensor<2xf32>
    // CHECK: graph.loss_gradient
    // CHECK: %[[K:.*]] = graph.broadcast %{{.*}} : tensor<1xf32> to tensor<2xf32>
    // CHECK: %[[Q:.*]] = graph.broadcast %{{.*}} : tensor<1xf32> to tensor<2xf32>
    // CHECK: %[[AFTER_K:.*]] = graph.broadcast %{{.*}} : tensor<f32> to tensor<2xf32>
    // CHECK: %[[AFTER_Q:.*]] = graph.broadcast %{{.*}} : tensor<f32> to tensor<2xf32>
    // CHECK: %[[Y:.*]] = graph.concat %[[K]], %[[AFTER_K]], %[[Q]], %[[AFTER_Q]] along 0
    // CHECK: graph.mul %[[Y]], %arg0
    %s = graph.add %l, %m : tensor<f32>, tensor<f32>
    return %s : tensor<f32>
  }
}

// -----

// Slices that overlap are added.
// CHECK: graph.parameter @overlapping
module attributes {graph.training = {loss = "loss"}} {
  graph.parameter @overlapping : tensor<8xf32>
  func.func @main(%x: tensor<8xf32>) -> (tensor<f32> {graph.name = "loss"}) {
    %w = graph.get_parameter @overlapping : tensor<8xf32>
    %y = graph.mul %x, %w : tensor<8xf32>, tensor<8xf32>
    %q = graph.slice %y starts [1] sizes [4] steps [1] : tensor<8xf32>
    %k = graph.slice %y starts [4] sizes [4] steps [1] : tensor<8xf32>
    %m = graph.mul %q, %k : tensor<4xf32>, tensor<4xf32>
    %l = graph.reduce sum %m over [0] : tensor<4xf32>
    // CHECK-COUNT-2: graph.pad constant
    // CHECK-NOT: graph.concat
    // CHECK: return
    return %l : tensor<f32>
  }
}
