// RUN: pcc-opt %s --add-loss --split-input-file | FileCheck %s

// The classes are the last dim of the output; labels become an input with the symbols of the first one's rows.
// CHECK-LABEL: @main
// CHECK-SAME: %[[LOGITS:.*]]: tensor<8x32x10xf32>
// CHECK-SAME: %[[LABELS:.*]]: tensor<8x32xi64> {graph.dims = ["batch", "seq"], graph.labels, graph.name = "labels"})
// CHECK-SAME: -> (tensor<f32> {graph.name = "loss"})
module attributes {graph.training = {loss = "cross_entropy(y, labels, ignore_index=-1)"}} {
  func.func @main(%y: tensor<8x32x10xf32> {graph.name = "x", graph.dims = ["batch", "seq", ""]})
      -> (tensor<8x32x10xf32> {graph.name = "y"}, tensor<8x32x10xf32> {graph.name = "unused"}) {
    // CHECK: %[[IGNORED:.*]] = graph.compare eq %[[LABELS]], %{{.*}}
    // CHECK: %[[PROBABILITY:.*]] = graph.log_softmax %[[LOGITS]] over 2
    // CHECK: graph.gather_elements %[[PROBABILITY]], %{{.*}} along 2
    // CHECK: graph.select %[[IGNORED]]
    // CHECK: %[[LOSS:.*]] = graph.div %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
    // CHECK: return %[[LOSS]] : tensor<f32>
    %u = graph.exp %y : tensor<8x32x10xf32>
    return %y, %u : tensor<8x32x10xf32>, tensor<8x32x10xf32>
  }
}

// -----

// Label smoothing takes the mean over classes, the z-loss the logarithm of the sum of exponentials.
// CHECK-LABEL: @main
module attributes {graph.training = {loss = "cross_entropy(y, t, label_smoothing=0.1, z_loss=1e-4)"}} {
  func.func @main(%y: tensor<8x10xf32> {graph.name = "x"}) -> (tensor<8x10xf32> {graph.name = "y"}) {
    // CHECK: graph.reduce mean %{{.*}} over [1]
    // CHECK: graph.gather_elements %arg0
    return %y : tensor<8x10xf32>
  }
}

// -----

// An input that the model has already is the labels; sums are made in f32.
// CHECK-LABEL: @main
// CHECK-SAME: (%[[Y:.*]]: tensor<8x4xbf16> {graph.name = "x"}, %[[T:.*]]: tensor<8x4xbf16>
// CHECK-SAME:   {graph.labels, graph.name = "target"})
module attributes {graph.training = {loss = "mse(y, target)"}} {
  func.func @main(%y: tensor<8x4xbf16> {graph.name = "x"}, %t: tensor<8x4xbf16> {graph.name = "target"})
      -> (tensor<8x4xbf16> {graph.name = "y"}) {
    // CHECK-DAG: %[[WIDE:.*]] = graph.cast %[[Y]] : tensor<8x4xbf16> to tensor<8x4xf32>
    // CHECK-DAG: graph.cast %[[T]]
    // CHECK: graph.sub
    // CHECK: graph.reduce sum %{{.*}} over [0, 1]
    return %y : tensor<8x4xbf16>
  }
}

// -----

// A model may compute its loss itself.
// CHECK-LABEL: @main
// CHECK-SAME: -> (tensor<f32> {graph.name = "loss"})
module attributes {graph.training = {loss = "own"}} {
  func.func @main(%y: tensor<1x1xf32> {graph.name = "x"}) -> (tensor<1x1xf32> {graph.name = "own"}) {
    // CHECK: graph.reshape %arg0 : tensor<1x1xf32> to tensor<f32>
    return %y : tensor<1x1xf32>
  }
}

// -----

// Inference keeps its outputs.
// CHECK-LABEL: @main
// CHECK-SAME: -> (tensor<4xf32> {graph.name = "y"})
module {
  func.func @main(%y: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
    return %y : tensor<4xf32>
  }
}

// -----

// Ops get the names of the outputs that they compute. An op that --shard names keeps its name.
// CHECK-LABEL: @main
// CHECK: graph.exp %arg0 {graph.name = "y"}
// CHECK: graph.tanh %arg0 {graph.name = "inner"}
module attributes {graph.training = {loss = "mse(y, t)"}, dist.seeds = ["inner=[-,-]"]} {
  func.func @main(%x: tensor<8x4xf32> {graph.name = "x"})
      -> (tensor<8x4xf32> {graph.name = "y"}, tensor<8x4xf32> {graph.name = "z"}) {
    %y = graph.exp %x {graph.name = "add_1"} : tensor<8x4xf32>
    %z = graph.tanh %x {graph.name = "inner"} : tensor<8x4xf32>
    return %y, %z : tensor<8x4xf32>, tensor<8x4xf32>
  }
}
