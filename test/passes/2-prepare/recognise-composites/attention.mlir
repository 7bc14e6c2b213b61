// RUN: pcc-opt %s --simplify-graph --recognise-composites --simplify-graph | FileCheck %s

!heads = tensor<2x4x3x8xf32>
!keys = tensor<2x2x3x8xf32>
!turned = tensor<2x4x8x3xf32>
!scores = tensor<2x4x3x3xf32>

// CHECK-LABEL: @plain
func.func @plain(%q: !heads, %k: !heads, %v: !heads) -> !heads {
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 {graph.name = "y", scale = 5.0{{.*}}e-01 : f64}
  // CHECK-NEXT: return
  %two = graph.constant dense<2.0> : tensor<f32>
  %t = graph.transpose %k [0, 1, 3, 2] : !heads
  %0 = graph.matmul %q, %t : !heads, !turned
  %1 = graph.div %0, %two : !scores, tensor<f32>
  %2 = graph.softmax %1 over 3 : !scores
  %3 = graph.matmul %2, %v {graph.name = "y"} : !scores, !heads
  return %3 : !heads
}

// The root of the scale on query and key; a mask that may hide whole rows, whose NaNs become zeros.
// CHECK-LABEL: @masked
func.func @masked(%q: !heads, %k: !heads, %v: !heads, %keep: tensor<2x1x1x3xi1>) -> !heads {
  // CHECK:      %[[MASK:.*]] = graph.select %arg3
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 mask %[[MASK]] : tensor<2x1x1x3xf32>, {scale = 2.5{{.*}}e-01 : f64}
  // CHECK-NEXT: return
  %half = graph.constant dense<0.5> : tensor<f32>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %0 = graph.reshape %k : !heads to tensor<8x3x8xf32>
  %1 = graph.transpose %0 [0, 2, 1] : tensor<8x3x8xf32>
  %2 = graph.reshape %1 : tensor<8x8x3xf32> to !turned
  %3 = graph.mul %q, %half : !heads, tensor<f32>
  %4 = graph.mul %2, %half : !turned, tensor<f32>
  %5 = graph.select %keep, %zero, %hidden : tensor<2x1x1x3xi1>, tensor<f32>, tensor<f32>
  %6 = graph.matmul %3, %4 : !heads, !turned
  %7 = graph.add %6, %5 : !scores, tensor<2x1x1x3xf32>
  %8 = graph.softmax %7 over 3 : !scores
  %9 = graph.is_nan %8 : !scores
  %10 = graph.select %9, %zero, %8 : tensor<2x4x3x3xi1>, tensor<f32>, !scores
  %11 = graph.matmul %10, %v : !scores, !heads
  return %11 : !heads
}

// A constant mask that keeps the diagonal hides no row: no test for NaN is needed.
// CHECK-LABEL: @diagonal
func.func @diagonal(%q: !heads, %k: !heads, %v: !heads) -> !heads {
  // CHECK: graph.attention %arg0, %arg1, %arg2 mask %{{.*}} : tensor<1x1x3x3xi1>,
  %keep = graph.constant dense<[[[[true, false, true], [true, true, false], [true, true, true]]]]> : tensor<1x1x3x3xi1>
  %hidden = graph.constant dense<0xFF800000> : tensor<f32>
  %0 = graph.matmul %q, %k {transpose_rhs} : !heads, !heads
  %1 = graph.select %keep, %0, %hidden : tensor<1x1x3x3xi1>, !scores, tensor<f32>
  %2 = graph.softmax %1 over 3 : !scores
  %3 = graph.matmul %2, %v : !scores, !heads
  return %3 : !heads
}

// A bias that a bounded function makes is finite, and hides nothing: no test for NaN is needed.
// CHECK-LABEL: @bounded_bias
func.func @bounded_bias(%q: !heads, %k: !heads, %v: !heads, %x: !scores) -> !heads {
  // CHECK: %[[BIAS:.*]] = graph.floor
  // CHECK: graph.attention %arg0, %arg1, %arg2 mask %[[BIAS]] :
  %0 = graph.erf %x : !scores
  %1 = graph.floor %0 : !scores
  %2 = graph.matmul %q, %k {transpose_rhs} : !heads, !heads
  %3 = graph.add %2, %1 : !scores, !scores
  %4 = graph.softmax %3 over 3 : !scores
  %5 = graph.matmul %4, %v : !scores, !heads
  return %5 : !heads
}

// A row that is filled with one finite number is uniform, as it is when that number is added.
// CHECK-LABEL: @filled
func.func @filled(%q: !heads, %k: !heads, %v: !heads, %hide: tensor<2x1x3x3xi1>) -> !heads {
  // CHECK:      %[[MASK:.*]] = graph.select %arg3
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 mask %[[MASK]]
  %lowest = graph.constant dense<-3.40282347E+38> : tensor<f32>
  %0 = graph.matmul %q, %k {transpose_rhs} : !heads, !heads
  %1 = graph.select %hide, %lowest, %0 : tensor<2x1x3x3xi1>, tensor<f32>, !scores
  %2 = graph.softmax %1 over 3 : !scores
  %3 = graph.matmul %2, %v : !scores, !heads
  return %3 : !heads
}

// Two key heads, each repeated for two query heads, are read once.
// CHECK-LABEL: @grouped
func.func @grouped(%q: !heads, %k: !keys, %v: !keys) -> !heads {
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 {scale = 1.0{{.*}} : f64} :
  // CHECK-SAME:   {{.*}}, tensor<2x2x3x8xf32>, tensor<2x2x3x8xf32>
  // CHECK-NEXT: return
  %0 = graph.reshape %k : !keys to tensor<2x2x1x3x8xf32>
  %1 = graph.broadcast %0 : tensor<2x2x1x3x8xf32> to tensor<2x2x2x3x8xf32>
  %2 = graph.reshape %1 : tensor<2x2x2x3x8xf32> to tensor<8x3x8xf32>
  %3 = graph.transpose %2 [0, 2, 1] : tensor<8x3x8xf32>
  %4 = graph.reshape %3 : tensor<8x8x3xf32> to !turned
  %5 = graph.reshape %v : !keys to tensor<2x2x1x3x8xf32>
  %6 = graph.broadcast %5 : tensor<2x2x1x3x8xf32> to tensor<2x2x2x3x8xf32>
  %7 = graph.reshape %6 : tensor<2x2x2x3x8xf32> to !heads
  %8 = graph.matmul %q, %4 : !heads, !turned
  %9 = graph.softmax %8 over 3 : !scores
  %10 = graph.matmul %9, %7 : !scores, !heads
  return %10 : !heads
}

// Batch and heads as one dim, clipped scores.
// CHECK-LABEL: @merged_heads
func.func @merged_heads(%q: !heads, %k: !heads, %v: !heads, %keep: tensor<2x1x1x3xi1>) -> !heads {
  // CHECK:      %[[MASK:.*]] = graph.select %arg3
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2 mask %[[MASK]]
  // CHECK-NEXT: return
  %zero = graph.constant dense<0.0> : tensor<f32>
  %lowest = graph.constant dense<-3.40282347E+38> : tensor<f32>
  %mask = graph.select %keep, %zero, %lowest : tensor<2x1x1x3xi1>, tensor<f32>, tensor<f32>
  %0 = graph.reshape %q : !heads to tensor<8x3x8xf32>
  %1 = graph.reshape %k : !heads to tensor<8x3x8xf32>
  %2 = graph.reshape %v : !heads to tensor<8x3x8xf32>
  %3 = graph.matmul %0, %1 {transpose_rhs} : tensor<8x3x8xf32>, tensor<8x3x8xf32>
  %4 = graph.reshape %3 : tensor<8x3x3xf32> to !scores
  %5 = graph.add %4, %mask : !scores, tensor<2x1x1x3xf32>
  %6 = graph.max %5, %lowest : !scores, tensor<f32>
  %7 = graph.reshape %6 : !scores to tensor<8x3x3xf32>
  %8 = graph.softmax %7 over 2 : tensor<8x3x3xf32>
  %9 = graph.matmul %8, %2 : tensor<8x3x3xf32>, tensor<8x3x8xf32>
  %10 = graph.reshape %9 : tensor<8x3x8xf32> to !heads
  return %10 : !heads
}

// The softmax of a narrow model is computed in f32.
// CHECK-LABEL: @narrow
func.func @narrow(%q: tensor<2x4x3x8xbf16>, %k: tensor<2x4x3x8xbf16>, %v: tensor<2x4x3x8xbf16>) -> tensor<2x4x3x8xbf16> {
  // CHECK-NEXT: graph.attention %arg0, %arg1, %arg2
  // CHECK-NEXT: return
  %0 = graph.matmul %q, %k {transpose_rhs} : tensor<2x4x3x8xbf16>, tensor<2x4x3x8xbf16>
  %1 = graph.cast %0 : tensor<2x4x3x3xbf16> to !scores
  %2 = graph.softmax %1 over 3 : !scores
  %3 = graph.cast %2 : !scores to tensor<2x4x3x3xbf16>
  %4 = graph.matmul %3, %v : tensor<2x4x3x3xbf16>, tensor<2x4x3x8xbf16>
  return %4 : tensor<2x4x3x8xbf16>
}
