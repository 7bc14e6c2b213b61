// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// Every attribute that GraphDiscardableAttrs.td declares, where it may stand.
// CHECK: module attributes
// CHECK-SAME: graph.batch_dims = ["x=0"]
// CHECK-SAME: graph.outputs = [{graph.name = "loss"}]
module attributes {
  graph.model = "model.onnx", graph.root = "/models", graph.bound_dims = {batch = 8 : i64}, graph.batch_dims = ["x=0"],
  graph.training = {loss = "loss", lr = 1.000000e-01 : f64}, graph.precision = bf16, graph.reproducible,
  graph.inputs = [{graph.name = "x"}], graph.outputs = [{graph.name = "loss"}]} {

graph.parameter @w : tensor<4xf32>

// CHECK-LABEL: @on_values
// CHECK-SAME: graph.dims = ["batch", ""], graph.labels, graph.name = "x", graph.sequence_dim = 1 : i64
func.func @on_values(
    %x: tensor<8x4xf32> {graph.batch_dim = 0 : i64, graph.dims = ["batch", ""], graph.labels, graph.name = "x",
                         graph.sequence_dim = 1 : i64})
    -> (tensor<8x4xf32> {graph.batch_dim = 0 : i64, graph.name = "y", graph.sequence_dim = 1 : i64},
        tensor<4xf32> {graph.gradient_of = @w}) {
  // CHECK: graph.relu %{{.*}} {graph.name = "y", graph.number = 3 : i64, graph.pinned}
  %y = graph.relu %x {graph.name = "y", graph.number = 3 : i64, graph.pinned} : tensor<8x4xf32>
  %w = graph.get_parameter @w {graph.mirrors = 3 : i64, graph.updates = @w} : tensor<4xf32>
  return %y, %w : tensor<8x4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @on_some_ops_only
func.func @on_some_ops_only(%gate: tensor<8x4xf32>, %x: tensor<4x8x2xf32>) -> tensor<8x2xf32> {
  // CHECK: graph.loss_gradient {graph.gradient_of = @w}
  %g = graph.loss_gradient {graph.gradient_of = @w} : tensor<4xf32>
  // CHECK: graph.einsum {{.*}}{graph.chosen = 2 : i64}
  %y = graph.einsum "te,etd->td" %gate, %x {graph.chosen = 2 : i64} : tensor<8x4xf32>, tensor<4x8x2xf32>
  return %y : tensor<8x2xf32>
}
}
