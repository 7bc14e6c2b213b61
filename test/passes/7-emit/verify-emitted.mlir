// RUN: pcc-opt --verify-emitted %s | FileCheck %s

// The gate changes nothing.
// CHECK: func.func @stage_0
// CHECK-NEXT: graph.reshape
module attributes {dist.mesh = #dist.mesh<tp = 1>, pipe.stages = 1 : i64, pipe.microbatches = 1 : i64,
                   graph.inputs = [{graph.name = "x", dist.global = tensor<4x2xf32>}],
                   graph.outputs = [{graph.name = "y", dist.global = tensor<8xf32>}]} {
  func.func @stage_0(%x: tensor<4x2xf32> {graph.name = "x"}) -> (tensor<8xf32> {graph.name = "y"})
      attributes {pipe.stage = 0 : i64} {
    %y = graph.reshape %x : tensor<4x2xf32> to tensor<8xf32>
    return %y : tensor<8xf32>
  }
  pipe.actions 0 stages [0] ["0F0"]
}
