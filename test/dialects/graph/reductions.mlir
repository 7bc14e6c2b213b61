// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// A mean may divide by another count than its operand's shape tells.
// CHECK-LABEL: @reduce
func.func @reduce(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  // CHECK: graph.reduce sum %{{.*}} over [0, 2] : tensor<2x3x4xf32>
  %sum = graph.reduce sum %x over [0, 2] : tensor<2x3x4xf32>
  // CHECK: graph.reduce max %{{.*}} over [1] keep : tensor<2x3x4xf32>
  %max = graph.reduce max %x over [1] keep : tensor<2x3x4xf32>
  // CHECK: graph.reduce mean %{{.*}} over [2] divisor 8 : tensor<2x3x4xf32>
  %mean = graph.reduce mean %x over [2] divisor 8 : tensor<2x3x4xf32>
  return %sum : tensor<3xf32>
}

// CHECK-LABEL: @arg_reduce
func.func @arg_reduce(%x: tensor<2x3xf32>) -> tensor<2x1xi64> {
  // CHECK: graph.arg_reduce max %{{.*}} over 1 keep last : tensor<2x3xf32>
  %i = graph.arg_reduce max %x over 1 keep last : tensor<2x3xf32>
  return %i : tensor<2x1xi64>
}

// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK: graph.softmax %{{.*}} over 1 : tensor<2x3xf32>
  %y = graph.softmax %x over 1 : tensor<2x3xf32>
  // CHECK: graph.log_softmax %{{.*}} over 0 : tensor<2x3xf32>
  %z = graph.log_softmax %y over 0 : tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}

// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK: graph.layer_norm %{{.*}}, %{{.*}}, %{{.*}} from 1 epsilon 1.0
  %y = graph.layer_norm %x, %w, %w from 1 epsilon 1.0e-05
      : tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<2x8xf32>, %w: tensor<8xf32>) -> tensor<2x8xf32> {
  // CHECK: graph.rms_norm %{{.*}}, %{{.*}} from 1 epsilon 1.0
  %y = graph.rms_norm %x, %w from 1 epsilon 1.0e-05 : tensor<2x8xf32>, tensor<8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: @cumsum
func.func @cumsum(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK: graph.cumsum %{{.*}} along 1 exclusive reverse : tensor<2x8xf32>
  %y = graph.cumsum %x along 1 exclusive reverse : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// CHECK-LABEL: @topk
func.func @topk(%x: tensor<2x8xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  %v, %i = graph.topk %x, 3 along 1 {largest = false} : tensor<2x8xf32>
  // CHECK: %[[V:.*]], %[[I:.*]] = graph.topk %{{.*}}, 3 along 1 {largest = false} : tensor<2x8xf32>
  // CHECK: return %[[V]], %[[I]]
  return %v, %i : tensor<2x3xf32>, tensor<2x3xi64>
}

// CHECK-LABEL: @pool
func.func @pool(%x: tensor<1x2x7xf32>) -> tensor<1x2x4xf32> {
  // CHECK: graph.pool average %{{.*}} {dilations = array<i64: 1>,
  // CHECK-SAME: pads = array<i64: 0, 1>, strides = array<i64: 2>, window = array<i64: 2>}
  %y = graph.pool average %x {dilations = array<i64: 1>,
      pads = array<i64: 0, 1>, strides = array<i64: 2>, window = array<i64: 2>} : tensor<1x2x7xf32>
  return %y : tensor<1x2x4xf32>
}
