// RUN: pcc-opt %s | pcc-opt | FileCheck %s

!data = tensor<8x4xf32>

// CHECK-LABEL: @gather
func.func @gather(%x: tensor<8x4xf32>, %i: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  // CHECK: graph.gather %{{.*}}, %{{.*}} along 0 : tensor<8x4xf32>, tensor<2x3xi64>
  %y = graph.gather %x, %i along 0 : tensor<8x4xf32>, tensor<2x3xi64>
  return %y : tensor<2x3x4xf32>
}

// CHECK-LABEL: @gather_elements
func.func @gather_elements(%x: tensor<8x4xf32>, %i: tensor<8x2xi64>) -> tensor<8x2xf32> {
  // CHECK: graph.gather_elements %{{.*}}, %{{.*}} along 1 : tensor<8x4xf32>, tensor<8x2xi64>
  %y = graph.gather_elements %x, %i along 1 : tensor<8x4xf32>, tensor<8x2xi64>
  return %y : tensor<8x2xf32>
}

// Each tuple of one index, after one shared dim, picks a row.
// CHECK-LABEL: @gather_nd
func.func @gather_nd(%x: tensor<2x8x4xf32>, %i: tensor<2x3x1xi64>) -> tensor<2x3x4xf32> {
  // CHECK: graph.gather_nd %{{.*}}, %{{.*}} {batch_dims = 1 : i64} : tensor<2x8x4xf32>
  %y = graph.gather_nd %x, %i {batch_dims = 1 : i64} : tensor<2x8x4xf32>, tensor<2x3x1xi64>
  return %y : tensor<2x3x4xf32>
}

// CHECK-LABEL: @scatter_elements
func.func @scatter_elements(%x: !data, %i: tensor<2x4xi64>, %u: tensor<2x4xf32>) -> !data {
  // CHECK: graph.scatter_elements add %{{.*}}, %{{.*}}, %{{.*}} along 0 : tensor<8x4xf32>,
  %y = graph.scatter_elements add %x, %i, %u along 0
      : !data, tensor<2x4xi64>, tensor<2x4xf32>
  return %y : !data
}

// CHECK-LABEL: @scatter_by_kind
func.func @scatter_by_kind(%x: !data, %i: tensor<2x4xi64>, %u: tensor<2x4xf32>) -> !data {
  // CHECK: graph.scatter_elements set
  %a = graph.scatter_elements set %x, %i, %u along 0
      : !data, tensor<2x4xi64>, tensor<2x4xf32>
  // CHECK: graph.scatter_elements mul
  %b = graph.scatter_elements mul %a, %i, %u along 0
      : !data, tensor<2x4xi64>, tensor<2x4xf32>
  // CHECK: graph.scatter_elements max
  %c = graph.scatter_elements max %b, %i, %u along 0
      : !data, tensor<2x4xi64>, tensor<2x4xf32>
  // CHECK: graph.scatter_elements min
  %y = graph.scatter_elements min %c, %i, %u along 0
      : !data, tensor<2x4xi64>, tensor<2x4xf32>
  return %y : !data
}

// CHECK-LABEL: @scatter_nd
func.func @scatter_nd(%x: !data, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) -> !data {
  // CHECK: graph.scatter_nd set %{{.*}}, %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<3x1xi64>,
  %y = graph.scatter_nd set %x, %i, %u : !data, tensor<3x1xi64>, tensor<3x4xf32>
  return %y : !data
}

// CHECK-LABEL: @scatter_nd_by_kind
func.func @scatter_nd_by_kind(%x: !data, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) -> !data {
  // CHECK: graph.scatter_nd add
  %a = graph.scatter_nd add %x, %i, %u : !data, tensor<3x1xi64>, tensor<3x4xf32>
  // CHECK: graph.scatter_nd mul
  %b = graph.scatter_nd mul %a, %i, %u : !data, tensor<3x1xi64>, tensor<3x4xf32>
  // CHECK: graph.scatter_nd max
  %c = graph.scatter_nd max %b, %i, %u : !data, tensor<3x1xi64>, tensor<3x4xf32>
  // CHECK: graph.scatter_nd min
  %y = graph.scatter_nd min %c, %i, %u : !data, tensor<3x1xi64>, tensor<3x4xf32>
  return %y : !data
}

// CHECK-LABEL: @one_hot
func.func @one_hot(%i: tensor<2xi64>, %on: tensor<f32>, %off: tensor<f32>) -> tensor<2x5xf32> {
  // CHECK: graph.one_hot %{{.*}}, %{{.*}}, %{{.*}} along 1 : tensor<2xi64>, tensor<f32>,
  %y = graph.one_hot %i, %on, %off along 1
      : tensor<2xi64>, tensor<f32>, tensor<f32> to tensor<2x5xf32>
  return %y : tensor<2x5xf32>
}

// CHECK-LABEL: @check_indices
func.func @check_indices(%ids: tensor<6xi32>, %places: tensor<3x2xi64>) {
  // CHECK: graph.check_indices %{{.*}} below [50] of "wte" : tensor<6xi32>
  graph.check_indices %ids below [50] of "wte" : tensor<6xi32>
  // CHECK: graph.check_indices %{{.*}} below [4, 5] from_zero of "cells" : tensor<3x2xi64>
  graph.check_indices %places below [4, 5] from_zero of "cells" : tensor<3x2xi64>
  return
}
