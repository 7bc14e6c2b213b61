// RUN: pcc-opt %s --mark-batch --split-input-file | FileCheck %s

// The batch is the first dim of the first input and every dim with its symbol; the sequence is its second one.
// CHECK-LABEL: @symbols
// CHECK-SAME: %arg0: tensor<8x32xi64> {graph.batch_dim = 0 : i64, {{.*}}graph.sequence_dim = 1 : i64}
// CHECK-SAME: %arg1: tensor<32x8xf32> {graph.batch_dim = 1 : i64, {{.*}}graph.sequence_dim = 0 : i64}
// CHECK-SAME: %arg2: tensor<8xf32> {graph.dims = ["other"]}
func.func @symbols(%ids: tensor<8x32xi64> {graph.dims = ["batch", "seq"]},
                   %x: tensor<32x8xf32> {graph.dims = ["seq", "batch"]},
                   %y: tensor<8xf32> {graph.dims = ["other"]}) {
  return
}

// -----

// Static models: dim 0 of every input of that size; images have no sequence.
// CHECK-LABEL: @static
// CHECK-SAME: %arg0: tensor<8x3x4x4xf32> {graph.batch_dim = 0 : i64}
// CHECK-SAME: %arg1: tensor<8x2xf32> {graph.batch_dim = 0 : i64}
// CHECK-SAME: %arg2: tensor<4xf32>)
func.func @static(%x: tensor<8x3x4x4xf32>, %y: tensor<8x2xf32>, %z: tensor<4xf32>) {
  return
}

// -----

// Token ids have a sequence even without symbols.
// CHECK-LABEL: @tokens
// CHECK-SAME: graph.batch_dim = 0 : i64, graph.sequence_dim = 1 : i64
func.func @tokens(%ids: tensor<8x32xi64>) {
  return
}

// -----

// The user's option overrides, and other inputs follow it.
// CHECK-LABEL: @overridden
// CHECK-SAME: %arg0: tensor<32x8xf32> {graph.batch_dim = 1 : i64
// CHECK-SAME: %arg1: tensor<8xf32> {graph.batch_dim = 0 : i64
module attributes {graph.batch_dims = ["x=1"], pipe.microbatches = 4 : i64} {
  func.func @overridden(%x: tensor<32x8xf32> {graph.name = "x", graph.dims = ["seq", "batch"]},
                        %y: tensor<8xf32> {graph.name = "y", graph.dims = ["batch"]}) {
    return
  }
}
