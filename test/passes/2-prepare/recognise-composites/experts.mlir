// RUN: pcc-opt %s --recognise-composites | FileCheck %s

!gate = tensor<6x4xf32>
!hot = tensor<6x2x4xf32>

// Two choices, each a row of zeros but for one weight.
// CHECK-LABEL: @one_hot_rows
func.func @one_hot_rows(%p: !gate, %y: tensor<4x6x3xf32>) -> tensor<6x3xf32> {
  // CHECK: graph.einsum "te,etd->td" {{.*}} {graph.chosen = 2 : i64}
  %w, %i = graph.topk %p, 2 along 1 : !gate
  %n = graph.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %0 = graph.reshape %i : tensor<6x2xi64> to tensor<6x2x1xi64>
  %1 = graph.compare eq %0, %n : tensor<6x2x1xi64>, tensor<4xi64>
  %2 = graph.cast %1 : tensor<6x2x4xi1> to !hot
  %3 = graph.reshape %w : tensor<6x2xf32> to tensor<6x2x1xf32>
  %4 = graph.mul %2, %3 : !hot, tensor<6x2x1xf32>
  %gate = graph.reduce sum %4 over [1] : !hot
  %5 = graph.einsum "te,etd->td" %gate, %y : !gate, tensor<4x6x3xf32>
  return %5 : tensor<6x3xf32>
}

// CHECK-LABEL: @scattered
func.func @scattered(%p: !gate, %y: tensor<4x6x3xf32>) -> tensor<6x3xf32> {
  // CHECK: graph.einsum "te,etd->td" {{.*}} {graph.chosen = 1 : i64}
  %w, %i = graph.topk %p, 1 along 1 : !gate
  %z = graph.constant dense<0.0> : !gate
  %0 = graph.scatter_elements set %z, %i, %w along 1 : !gate, tensor<6x1xi64>, tensor<6x1xf32>
  %1 = graph.einsum "etd,te->td" %y, %0 : tensor<4x6x3xf32>, !gate
  return %1 : tensor<6x3xf32>
}

// Weights that are divided by their sum stay 0 where they are.
// CHECK-LABEL: @summed_products
func.func @summed_products(%p: !gate, %y: tensor<4x6x3xf32>) -> tensor<6x3xf32> {
  // CHECK: %[[GATE:.*]] = graph.reshape {{.*}} to tensor<4x6xf32>
  // CHECK: graph.einsum "ab,abc->bc" %[[GATE]], %arg1 {graph.chosen = 2 : i64}
  %w, %i = graph.topk %p, 2 along 1 : !gate
  %one = graph.constant dense<1.0> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %0 = graph.one_hot %i, %one, %zero along 2 : tensor<6x2xi64>, tensor<f32>, tensor<f32> to !hot
  %1 = graph.einsum "tk,tke->te" %w, %0 : tensor<6x2xf32>, !hot
  %2 = graph.reduce sum %1 over [1] keep : !gate
  %3 = graph.div %1, %2 : !gate, tensor<6x1xf32>
  %4 = graph.transpose %3 [1, 0] : !gate
  %5 = graph.reshape %4 : tensor<4x6xf32> to tensor<4x6x1xf32>
  %6 = graph.mul %5, %y : tensor<4x6x1xf32>, tensor<4x6x3xf32>
  %7 = graph.reduce sum %6 over [0] : tensor<4x6x3xf32>
  return %7 : tensor<6x3xf32>
}
