// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// CHECK-LABEL: @transpose
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xf32> {
  // CHECK: graph.transpose %{{.*}} [2, 0, 1] : tensor<2x3x4xf32>
  %y = graph.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
  return %y : tensor<4x2x3xf32>
}

// CHECK-LABEL: @reshape
func.func @reshape(%x: tensor<6x4xf32>) -> tensor<2x12xf32> {
  // CHECK: graph.reshape %{{.*}} : tensor<6x4xf32> to tensor<2x12xf32>
  %y = graph.reshape %x : tensor<6x4xf32> to tensor<2x12xf32>
  return %y : tensor<2x12xf32>
}

// CHECK-LABEL: @broadcast
func.func @broadcast(%x: tensor<3x1xf32>) -> tensor<2x3x4xf32> {
  // CHECK: graph.broadcast %{{.*}} : tensor<3x1xf32> to tensor<2x3x4xf32>
  %y = graph.broadcast %x : tensor<3x1xf32> to tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// A negative step reads backwards.
// CHECK-LABEL: @slice
func.func @slice(%x: tensor<8x8xf32>) -> tensor<4x2xf32> {
  // CHECK: graph.slice %{{.*}} starts [4, 7] sizes [4, 2] steps [1, -3] : tensor<8x8xf32>
  %y = graph.slice %x starts [4, 7] sizes [4, 2] steps [1, -3] : tensor<8x8xf32>
  return %y : tensor<4x2xf32>
}

// CHECK-LABEL: @concat
func.func @concat(%x: tensor<2x3xf32>, %y: tensor<2x1xf32>) -> tensor<2x4xf32> {
  // CHECK: graph.concat %{{.*}}, %{{.*}} along 1 : tensor<2x3xf32>, tensor<2x1xf32>
  %z = graph.concat %x, %y along 1 : tensor<2x3xf32>, tensor<2x1xf32>
  return %z : tensor<2x4xf32>
}

// Counts may be negative: they cut.
// CHECK-LABEL: @pad
func.func @pad(%x: tensor<2x3xf32>, %v: tensor<f32>) -> tensor<2x4xf32> {
  // CHECK: graph.pad constant %{{.*}} with %{{.*}} : tensor<f32>, low [0, 2] high [0, -1]
  %y = graph.pad constant %x with %v : tensor<f32>, low [0, 2] high [0, -1] : tensor<2x3xf32>
  // CHECK: graph.pad edge %{{.*}} low [0, 1] high [0, -1] : tensor<2x4xf32>
  %z = graph.pad edge %y low [0, 1] high [0, -1] : tensor<2x4xf32>
  return %z : tensor<2x4xf32>
}

// CHECK-LABEL: @rotary
func.func @rotary(%x: tensor<2x4x8xf32>, %cos: tensor<4x8xf32>, %sin: tensor<4x8xf32>) {
  // CHECK: graph.rotary %{{.*}}, %{{.*}}, %{{.*}} interleaved : tensor<2x4x8xf32>, tensor<4x8xf32>
  %y = graph.rotary %x, %cos, %sin interleaved
      : tensor<2x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// CHECK-LABEL: @resize
func.func @resize(%x: tensor<1x2x4xf32>) -> tensor<1x2x8xf32> {
  // CHECK: graph.resize linear %{{.*}} {coordinates = "half_pixel", rounding = "floor",
  // CHECK-SAME: scales = array<f64: 1.0
  %y = graph.resize linear %x {coordinates = "half_pixel", rounding = "floor",
      scales = array<f64: 1.0, 1.0, 2.0>} : tensor<1x2x4xf32> to tensor<1x2x8xf32>
  return %y : tensor<1x2x8xf32>
}
