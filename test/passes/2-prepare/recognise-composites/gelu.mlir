// RUN: pcc-opt %s --recognise-composites | FileCheck %s

// x · (0.5 · (1 + erf(x / √2)))
// CHECK-LABEL: @erf
func.func @erf(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: graph.gelu %arg0 {graph.name = "y", slope = 0.70710{{.*}} : f64}
  // CHECK-NEXT: return
  %root = graph.constant dense<1.41421354> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.div %x, %root : tensor<2x4xf32>, tensor<f32>
  %1 = graph.erf %0 : tensor<2x4xf32>
  %2 = graph.add %one, %1 : tensor<f32>, tensor<2x4xf32>
  %3 = graph.mul %half, %2 : tensor<f32>, tensor<2x4xf32>
  %4 = graph.mul %x, %3 {graph.name = "y"} : tensor<2x4xf32>, tensor<2x4xf32>
  return %4 : tensor<2x4xf32>
}

// (x · (1 + erf(x · 1/√2))) · 0.5 where x is a product itself.
// CHECK-LABEL: @erf_of_a_product
func.func @erf_of_a_product(%a: tensor<4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: %[[X:.*]] = graph.mul
  // CHECK-NEXT: graph.gelu %[[X]]
  // CHECK-NEXT: return
  %root = graph.constant dense<0.707106769> : tensor<1xf32>
  %one = graph.constant dense<1.0> : tensor<1xf32>
  %half = graph.constant dense<0.5> : tensor<1xf32>
  %x = graph.mul %a, %b : tensor<4xf32>, tensor<2x4xf32>
  %0 = graph.mul %x, %root : tensor<2x4xf32>, tensor<1xf32>
  %1 = graph.erf %0 : tensor<2x4xf32>
  %2 = graph.add %1, %one : tensor<2x4xf32>, tensor<1xf32>
  %3 = graph.mul %x, %2 : tensor<2x4xf32>, tensor<2x4xf32>
  %4 = graph.mul %3, %half : tensor<2x4xf32>, tensor<1xf32>
  return %4 : tensor<2x4xf32>
}

// 0.5 · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³)))
// CHECK-LABEL: @tanh
func.func @tanh(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: graph.gelu %arg0 {cubic = 0.0447{{.*}} : f64, slope = 0.79788{{.*}} : f64, tanh}
  // CHECK-NEXT: return
  %three = graph.constant dense<3.0> : tensor<f32>
  %cubic = graph.constant dense<4.471500e-02> : tensor<f32>
  %slope = graph.constant dense<0.797884583> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.mul %x, %half : tensor<2x4xf32>, tensor<f32>
  %1 = graph.pow %x, %three : tensor<2x4xf32>, tensor<f32>
  %2 = graph.mul %1, %cubic : tensor<2x4xf32>, tensor<f32>
  %3 = graph.add %x, %2 : tensor<2x4xf32>, tensor<2x4xf32>
  %4 = graph.mul %3, %slope : tensor<2x4xf32>, tensor<f32>
  %5 = graph.tanh %4 : tensor<2x4xf32>
  %6 = graph.add %5, %one : tensor<2x4xf32>, tensor<f32>
  %7 = graph.mul %0, %6 : tensor<2x4xf32>, tensor<2x4xf32>
  return %7 : tensor<2x4xf32>
}

// 0.5 · x · (1 + tanh(√(2/π) · x · (1 + 0.044715 · x · x)))
// CHECK-LABEL: @tanh_by_horner
func.func @tanh_by_horner(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // CHECK-NEXT: graph.gelu %arg0 {cubic = 0.0447{{.*}} : f64, slope = 0.79788{{.*}} : f64, tanh}
  // CHECK-NEXT: return
  %cubic = graph.constant dense<4.471500e-02> : tensor<f32>
  %slope = graph.constant dense<0.797884583> : tensor<f32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %half = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.mul %cubic, %x : tensor<f32>, tensor<2x4xf32>
  %1 = graph.mul %0, %x : tensor<2x4xf32>, tensor<2x4xf32>
  %2 = graph.add %1, %one : tensor<2x4xf32>, tensor<f32>
  %3 = graph.mul %x, %slope : tensor<2x4xf32>, tensor<f32>
  %4 = graph.mul %3, %2 : tensor<2x4xf32>, tensor<2x4xf32>
  %5 = graph.tanh %4 : tensor<2x4xf32>
  %6 = graph.add %one, %5 : tensor<f32>, tensor<2x4xf32>
  %7 = graph.mul %half, %x : tensor<f32>, tensor<2x4xf32>
  %8 = graph.mul %6, %7 : tensor<2x4xf32>, tensor<2x4xf32>
  return %8 : tensor<2x4xf32>
}
