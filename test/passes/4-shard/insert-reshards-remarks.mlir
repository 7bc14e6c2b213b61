// RUN: pcc-opt --insert-reshards --split-input-file %s 2>&1 | FileCheck %s

// Where the ops lie that a remark counts.

#whole = #dist.sharding<"[-, -]">

// A node of the model may be called as a part of the training step is.
// CHECK: graph.reshape (1 op), first at node 'optimizer'
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @in_a_node(%x: tensor<3x2xf32> {dist.sharding = #whole}) -> (tensor<2x3xf32> {dist.sharding = #whole}) {
    %y = graph.reshape %x {dist.shardings = [#whole], dist.split = #dist.sharding<"[-, -, -, -]">} : tensor<3x2xf32> to tensor<2x3xf32> loc("optimizer")
    return %y : tensor<2x3xf32>
  }
}

// -----

#whole = #dist.sharding<"[-, -]">

// An op of the training step lies in the model.
// CHECK: graph.reshape (1 op), first in the optimizer step
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  func.func @in_the_optimizer(%x: tensor<3x2xf32> {dist.sharding = #whole}) -> (tensor<2x3xf32> {dist.sharding = #whole}) {
    %y = graph.reshape %x {dist.shardings = [#whole], dist.split = #dist.sharding<"[-, -, -, -]">} : tensor<3x2xf32> to tensor<2x3xf32> loc("optimizer"("model.onnx":0:0))
    return %y : tensor<2x3xf32>
  }
}
