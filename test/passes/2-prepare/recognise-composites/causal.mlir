// RUN: pcc-opt %s --recognise-composites | FileCheck %s

!h = tensor<2x4x4x8xf32>

// CHECK-LABEL: @constant
func.func @constant(%q: !h, %k: !h, %v: !h) -> !h {
  // CHECK: graph.attention %arg0, %arg1, %arg2 {causal,
  %m = graph.constant dense<[[[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]]]> : tensor<1x1x4x4xi1>
  %y = graph.attention %q, %k, %v mask %m : tensor<1x1x4x4xi1>, {scale = 0.5 : f64} : !h, !h, !h
  return %y : !h
}

// Positions of keys against those of queries, and the lowest number where that is false.
// CHECK-LABEL: @positions
func.func @positions(%q: !h, %k: !h, %v: !h) -> !h {
  // CHECK: graph.attention %arg0, %arg1, %arg2 {causal,
  %key = graph.constant dense<[[[[0, 1, 2, 3]]]]> : tensor<1x1x1x4xi64>
  %query = graph.constant dense<[[[[0], [1], [2], [3]]]]> : tensor<1x1x4x1xi64>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %low = graph.constant dense<-3.40282347E+38> : tensor<f32>
  %0 = graph.compare le %key, %query : tensor<1x1x1x4xi64>, tensor<1x1x4x1xi64>
  %1 = graph.select %0, %zero, %low : tensor<1x1x4x4xi1>, tensor<f32>, tensor<f32>
  %2 = graph.broadcast %1 : tensor<1x1x4x4xf32> to tensor<2x1x4x4xf32>
  %y = graph.attention %q, %k, %v mask %2 : tensor<2x1x4x4xf32>, {scale = 0.5 : f64} : !h, !h, !h
  return %y : !h
}

// The other way round: what is later is filled.
// CHECK-LABEL: @filled
func.func @filled(%q: !h, %k: !h, %v: !h) -> !h {
  // CHECK: graph.attention %arg0, %arg1, %arg2 {causal,
  %key = graph.iota 3 : tensor<1x1x4x4xi64>
  %query = graph.constant dense<[[[[0], [1], [2], [3]]]]> : tensor<1x1x4x1xi64>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %low = graph.constant dense<0xFF800000> : tensor<f32>
  %0 = graph.compare lt %query, %key : tensor<1x1x4x1xi64>, tensor<1x1x4x4xi64>
  %1 = graph.select %0, %low, %zero : tensor<1x1x4x4xi1>, tensor<f32>, tensor<f32>
  %2 = graph.reshape %1 : tensor<1x1x4x4xf32> to tensor<4x4xf32>
  %y = graph.attention %q, %k, %v mask %2 : tensor<4x4xf32>, {scale = 0.5 : f64} : !h, !h, !h
  return %y : !h
}

// A mask that hides more is kept.
// CHECK-LABEL: @and_padding
func.func @and_padding(%q: !h, %k: !h, %v: !h, %seen: tensor<2x1x1x4xi1>) -> !h {
  // CHECK: %[[M:.*]] = graph.and
  // CHECK: graph.attention %arg0, %arg1, %arg2 mask %[[M]] : tensor<2x1x4x4xi1>, {causal,
  %m = graph.constant dense<[[[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]]]> : tensor<1x1x4x4xi1>
  %0 = graph.and %m, %seen : tensor<1x1x4x4xi1>, tensor<2x1x1x4xi1>
  %y = graph.attention %q, %k, %v mask %0 : tensor<2x1x4x4xi1>, {scale = 0.5 : f64} : !h, !h, !h
  return %y : !h
}

// A bias is added as well.
// CHECK-LABEL: @and_bias
func.func @and_bias(%q: !h, %k: !h, %v: !h, %bias: tensor<1x4x4x4xf32>) -> !h {
  // CHECK: graph.attention %arg0, %arg1, %arg2 mask %{{.*}} : tensor<1x4x4x4xf32>, {causal,
  %m = graph.constant dense<[[0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %0 = graph.add %bias, %m : tensor<1x4x4x4xf32>, tensor<4x4xf32>
  %y = graph.attention %q, %k, %v mask %0 : tensor<1x4x4x4xf32>, {scale = 0.5 : f64} : !h, !h, !h
  return %y : !h
}

// A window of keys hides what is later, and what is long past.
// CHECK-LABEL: @window
func.func @window(%q: !h, %k: !h, %v: !h) -> !h {
  // CHECK: graph.attention %arg0, %arg1, %arg2 mask %{{.*}} : tensor<1x1x4x4xi1>, {causal,
  %m = graph.constant dense<[[[[true, false, false, false], [true, true, false, false], [false, true, true, false], [false, false, true, true]]]]> : tensor<1x1x4x4xi1>
  %y = graph.attention %q, %k, %v mask %m : tensor<1x1x4x4xi1>, {scale = 0.5 : f64} : !h, !h, !h
  return %y : !h
}

// These masks do not hide all later keys: one element, other positions, a number that is not low, an unknown mask, later keys only.
// CHECK-LABEL: @others
func.func @others(%q: !h, %k: !h, %v: !h, %m: tensor<1x1x4x4xi1>) -> (!h, !h, !h, !h, !h) {
  // CHECK-NOT: causal
  // CHECK: return
  %one = graph.constant dense<[[[[true, false, false, true], [true, true, false, false], [true, true, true, false], [true, true, true, true]]]]> : tensor<1x1x4x4xi1>
  %0 = graph.attention %q, %k, %v mask %one : tensor<1x1x4x4xi1>, {scale = 0.5 : f64} : !h, !h, !h
  %key = graph.constant dense<[[[[0, 1, 2, 3]]]]> : tensor<1x1x1x4xi64>
  %query = graph.constant dense<[[[[1], [2], [3], [4]]]]> : tensor<1x1x4x1xi64>
  %1 = graph.compare le %key, %query : tensor<1x1x1x4xi64>, tensor<1x1x4x1xi64>
  %2 = graph.attention %q, %k, %v mask %1 : tensor<1x1x4x4xi1>, {scale = 0.5 : f64} : !h, !h, !h
  %high = graph.constant dense<[[0.0, -100.0, -100.0, -100.0], [0.0, 0.0, -100.0, -100.0], [0.0, 0.0, 0.0, -100.0], [0.0, 0.0, 0.0, 0.0]]> : tensor<4x4xf32>
  %3 = graph.attention %q, %k, %v mask %high : tensor<4x4xf32>, {scale = 0.5 : f64} : !h, !h, !h
  %4 = graph.attention %q, %k, %v mask %m : tensor<1x1x4x4xi1>, {scale = 0.5 : f64} : !h, !h, !h
  %5 = graph.compare gt %key, %query : tensor<1x1x1x4xi64>, tensor<1x1x4x1xi64>
  %6 = graph.attention %q, %k, %v mask %5 : tensor<1x1x4x4xi1>, {scale = 0.5 : f64} : !h, !h, !h
  return %0, %2, %3, %4, %6 : !h, !h, !h, !h, !h
}

// A lowest number is as good as nothing only next to others. Where padding hides all that came before, a row is made of what is hidden,
// of later keys, too; and a bias may be higher than that.
// CHECK-LABEL: @low_numbers
func.func @low_numbers(%q: !h, %k: !h, %v: !h, %seen: tensor<2x1x1x4xi1>, %bias: tensor<1x4x4x4xf32>) -> (!h, !h) {
  // CHECK-NOT: causal
  // CHECK: return
  %m = graph.constant dense<[[[[true, false, false, false], [true, true, false, false], [true, true, true, false], [true, true, true, true]]]]> : tensor<1x1x4x4xi1>
  %zero = graph.constant dense<0.0> : tensor<f32>
  %low = graph.constant dense<-3.40282347E+38> : tensor<f32>
  %0 = graph.and %m, %seen : tensor<1x1x4x4xi1>, tensor<2x1x1x4xi1>
  %1 = graph.select %0, %zero, %low : tensor<2x1x4x4xi1>, tensor<f32>, tensor<f32>
  %2 = graph.attention %q, %k, %v mask %1 : tensor<2x1x4x4xf32>, {scale = 0.5 : f64} : !h, !h, !h
  %3 = graph.select %m, %zero, %low : tensor<1x1x4x4xi1>, tensor<f32>, tensor<f32>
  %4 = graph.add %3, %bias : tensor<1x1x4x4xf32>, tensor<1x4x4x4xf32>
  %5 = graph.attention %q, %k, %v mask %4 : tensor<1x4x4x4xf32>, {scale = 0.5 : f64} : !h, !h, !h
  return %2, %5 : !h, !h
}
