// RUN: pcc-opt %s --recognise-composites | FileCheck %s

graph.parameter @scale : tensor<8xf32>
graph.parameter @bias : tensor<8xf32>
graph.parameter @narrow : tensor<8xbf16>

// CHECK-LABEL: @layer_norm
func.func @layer_norm(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  // CHECK: graph.layer_norm %arg0, %[[S:.*]], %[[B:.*]] from 2 epsilon 9.99{{.*}}E-6 {graph.name = "y"}
  // CHECK-NEXT: return
  %scale = graph.get_parameter @scale : tensor<8xf32>
  %bias = graph.get_parameter @bias : tensor<8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %epsilon = graph.constant dense<1.0e-5> : tensor<1xf32>
  %mean = graph.reduce mean %x over [2] keep : tensor<2x3x8xf32>
  %0 = graph.sub %x, %mean : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %1 = graph.pow %0, %two : tensor<2x3x8xf32>, tensor<f32>
  %2 = graph.reduce mean %1 over [2] keep : tensor<2x3x8xf32>
  %3 = graph.add %epsilon, %2 : tensor<1xf32>, tensor<2x3x1xf32>
  %4 = graph.sqrt %3 : tensor<2x3x1xf32>
  %5 = graph.div %0, %4 : tensor<2x3x8xf32>, tensor<2x3x1xf32>
  %6 = graph.mul %scale, %5 : tensor<8xf32>, tensor<2x3x8xf32>
  %7 = graph.add %6, %bias {graph.name = "y"} : tensor<2x3x8xf32>, tensor<8xf32>
  return %7 : tensor<2x3x8xf32>
}

// Over two dims, by the reciprocal of the root, without scale and bias.
// CHECK-LABEL: @layer_norm_of_two_dims
func.func @layer_norm_of_two_dims(%x: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  // CHECK: graph.layer_norm %arg0, %[[ONES:.*]] from 1 epsilon 5.0{{.*}}e-01 : tensor<2x3x8xf32>, tensor<3x8xf32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %mean = graph.reduce mean %x over [1, 2] keep : tensor<2x3x8xf32>
  %0 = graph.sub %x, %mean : tensor<2x3x8xf32>, tensor<2x1x1xf32>
  %1 = graph.mul %0, %0 : tensor<2x3x8xf32>, tensor<2x3x8xf32>
  %2 = graph.reduce mean %1 over [1, 2] keep : tensor<2x3x8xf32>
  %3 = graph.add %2, %half : tensor<2x1x1xf32>, tensor<f32>
  %4 = graph.sqrt %3 : tensor<2x1x1xf32>
  %5 = graph.reciprocal %4 : tensor<2x1x1xf32>
  %6 = graph.mul %5, %0 : tensor<2x1x1xf32>, tensor<2x3x8xf32>
  return %6 : tensor<2x3x8xf32>
}

// CHECK-LABEL: @rms_norm
func.func @rms_norm(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  // CHECK: graph.rms_norm %arg0, %{{.*}} from 1 epsilon
  // CHECK-NEXT: return
  %scale = graph.get_parameter @scale : tensor<8xf32>
  %two = graph.constant dense<2.0> : tensor<f32>
  %epsilon = graph.constant dense<1.0e-6> : tensor<f32>
  %0 = graph.pow %x, %two : tensor<2x8xf32>, tensor<f32>
  %1 = graph.reduce mean %0 over [1] keep : tensor<2x8xf32>
  %2 = graph.add %1, %epsilon : tensor<2x1xf32>, tensor<f32>
  %3 = graph.sqrt %2 : tensor<2x1xf32>
  %4 = graph.reciprocal %3 : tensor<2x1xf32>
  %5 = graph.mul %x, %4 : tensor<2x8xf32>, tensor<2x1xf32>
  %6 = graph.mul %scale, %5 : tensor<8xf32>, tensor<2x8xf32>
  return %6 : tensor<2x8xf32>
}

// The casts of a narrow model: a norm computes its statistics in f32 itself.
// CHECK-LABEL: @narrow_rms_norm
func.func @narrow_rms_norm(%x: tensor<2x8xbf16>) -> tensor<2x8xbf16> {
  // CHECK:     graph.rms_norm %arg0, %{{.*}} : tensor<2x8xbf16>, tensor<8xbf16>
  // CHECK-NOT: graph.cast
  %scale = graph.get_parameter @narrow : tensor<8xbf16>
  %epsilon = graph.constant dense<1.0e-6> : tensor<f32>
  %wide = graph.cast %x : tensor<2x8xbf16> to tensor<2x8xf32>
  %0 = graph.mul %wide, %wide : tensor<2x8xf32>, tensor<2x8xf32>
  %1 = graph.reduce mean %0 over [1] keep : tensor<2x8xf32>
  %2 = graph.add %1, %epsilon : tensor<2x1xf32>, tensor<f32>
  %3 = graph.sqrt %2 : tensor<2x1xf32>
  %4 = graph.div %wide, %3 : tensor<2x8xf32>, tensor<2x1xf32>
  %5 = graph.cast %4 : tensor<2x8xf32> to tensor<2x8xbf16>
  %6 = graph.mul %scale, %5 : tensor<8xbf16>, tensor<2x8xbf16>
  return %6 : tensor<2x8xbf16>
}
