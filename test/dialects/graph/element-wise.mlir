// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// Operands broadcast as in NumPy: dims are matched from the right.
// CHECK-LABEL: @broadcast
func.func @broadcast(%x: tensor<4x1x3xf32>, %y: tensor<2x1xf32>) -> tensor<4x2x3xf32> {
  // CHECK: graph.add %{{.*}}, %{{.*}} : tensor<4x1x3xf32>, tensor<2x1xf32>
  %z = graph.add %x, %y : tensor<4x1x3xf32>, tensor<2x1xf32>
  return %z : tensor<4x2x3xf32>
}

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.exp %{{.*}} : tensor<4xf32>
  %exp = graph.exp %x : tensor<4xf32>
  // CHECK: graph.gelu %{{.*}} : tensor<4xf32>
  %gelu = graph.gelu %exp : tensor<4xf32>
  // CHECK: graph.gelu %{{.*}} {tanh} : tensor<4xf32>
  %near = graph.gelu %gelu {tanh} : tensor<4xf32>
  return %near : tensor<4xf32>
}

// CHECK-LABEL: @tests
func.func @tests(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xi1> {
  // CHECK: graph.is_nan %{{.*}} : tensor<4xf32>
  %nan = graph.is_nan %x : tensor<4xf32>
  // CHECK: graph.is_inf %{{.*}} {negative = false} : tensor<4xf32>
  %inf = graph.is_inf %x {negative = false} : tensor<4xf32>
  // CHECK: graph.compare lt %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %less = graph.compare lt %x, %y : tensor<4xf32>, tensor<4xf32>
  // CHECK: graph.or %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xi1>
  %or = graph.or %nan, %inf : tensor<4xi1>, tensor<4xi1>
  return %or : tensor<4xi1>
}

// CHECK-LABEL: @select
func.func @select(%c: tensor<4x1xi1>, %x: tensor<3xf32>, %y: tensor<f32>) -> tensor<4x3xf32> {
  // CHECK: graph.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x1xi1>, tensor<3xf32>, tensor<f32>
  %z = graph.select %c, %x, %y : tensor<4x1xi1>, tensor<3xf32>, tensor<f32>
  return %z : tensor<4x3xf32>
}

// CHECK-LABEL: @cast
func.func @cast(%x: tensor<4xf32>) -> tensor<4xi64> {
  // CHECK: graph.cast %{{.*}} : tensor<4xf32> to tensor<4xi64>
  %y = graph.cast %x : tensor<4xf32> to tensor<4xi64>
  return %y : tensor<4xi64>
}

// CHECK-LABEL: @cast_of_floats
func.func @cast_of_floats(%x: tensor<4xf32>) -> tensor<4xf16> {
  // CHECK: graph.cast %{{.*}} : tensor<4xf32> to tensor<4xf16>
  %y = graph.cast %x : tensor<4xf32> to tensor<4xf16>
  return %y : tensor<4xf16>
}

// CHECK-LABEL: @arithmetic
func.func @arithmetic(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.neg %{{.*}} : tensor<4xf32>
  %0 = graph.neg %x : tensor<4xf32>
  // CHECK: graph.abs %{{.*}} : tensor<4xf32>
  %1 = graph.abs %0 : tensor<4xf32>
  // CHECK: graph.reciprocal %{{.*}} : tensor<4xf32>
  %2 = graph.reciprocal %1 : tensor<4xf32>
  // CHECK: graph.sign %{{.*}} : tensor<4xf32>
  %3 = graph.sign %2 : tensor<4xf32>
  // CHECK: graph.sqrt %{{.*}} : tensor<4xf32>
  %4 = graph.sqrt %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// CHECK-LABEL: @rounding
func.func @rounding(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.floor %{{.*}} : tensor<4xf32>
  %0 = graph.floor %x : tensor<4xf32>
  // CHECK: graph.ceil %{{.*}} : tensor<4xf32>
  %1 = graph.ceil %0 : tensor<4xf32>
  // CHECK: graph.round %{{.*}} : tensor<4xf32>
  %2 = graph.round %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: @exponentials
func.func @exponentials(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.log %{{.*}} : tensor<4xf32>
  %0 = graph.log %x : tensor<4xf32>
  // CHECK: graph.tanh %{{.*}} : tensor<4xf32>
  %1 = graph.tanh %0 : tensor<4xf32>
  // CHECK: graph.erf %{{.*}} : tensor<4xf32>
  %2 = graph.erf %1 : tensor<4xf32>
  // CHECK: graph.sigmoid %{{.*}} : tensor<4xf32>
  %3 = graph.sigmoid %2 : tensor<4xf32>
  // CHECK: graph.relu %{{.*}} : tensor<4xf32>
  %4 = graph.relu %3 : tensor<4xf32>
  // CHECK: graph.softplus %{{.*}} : tensor<4xf32>
  %5 = graph.softplus %4 : tensor<4xf32>
  return %5 : tensor<4xf32>
}

// CHECK-LABEL: @trigonometry
func.func @trigonometry(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.sin %{{.*}} : tensor<4xf32>
  %0 = graph.sin %x : tensor<4xf32>
  // CHECK: graph.cos %{{.*}} : tensor<4xf32>
  %1 = graph.cos %0 : tensor<4xf32>
  // CHECK: graph.tan %{{.*}} : tensor<4xf32>
  %2 = graph.tan %1 : tensor<4xf32>
  // CHECK: graph.asin %{{.*}} : tensor<4xf32>
  %3 = graph.asin %2 : tensor<4xf32>
  // CHECK: graph.acos %{{.*}} : tensor<4xf32>
  %4 = graph.acos %3 : tensor<4xf32>
  // CHECK: graph.atan %{{.*}} : tensor<4xf32>
  %5 = graph.atan %4 : tensor<4xf32>
  return %5 : tensor<4xf32>
}

// CHECK-LABEL: @hyperbolics
func.func @hyperbolics(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.sinh %{{.*}} : tensor<4xf32>
  %0 = graph.sinh %x : tensor<4xf32>
  // CHECK: graph.cosh %{{.*}} : tensor<4xf32>
  %1 = graph.cosh %0 : tensor<4xf32>
  // CHECK: graph.asinh %{{.*}} : tensor<4xf32>
  %2 = graph.asinh %1 : tensor<4xf32>
  // CHECK: graph.acosh %{{.*}} : tensor<4xf32>
  %3 = graph.acosh %2 : tensor<4xf32>
  // CHECK: graph.atanh %{{.*}} : tensor<4xf32>
  %4 = graph.atanh %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// CHECK-LABEL: @binary
func.func @binary(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.sub %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %0 = graph.sub %x, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: graph.mul %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %1 = graph.mul %0, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: graph.div %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %2 = graph.div %1, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: graph.pow %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %3 = graph.pow %2, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: graph.max %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %4 = graph.max %3, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: graph.min %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %5 = graph.min %4, %x : tensor<4xf32>, tensor<4xf32>
  return %5 : tensor<4xf32>
}

// CHECK-LABEL: @remainders
func.func @remainders(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: graph.mod %{{.*}}, %{{.*}} : tensor<4xi32>, tensor<4xi32>
  %floored = graph.mod %x, %y : tensor<4xi32>, tensor<4xi32>
  // CHECK: graph.mod %{{.*}}, %{{.*}} {truncated} : tensor<4xi32>, tensor<4xi32>
  %truncated = graph.mod %floored, %y {truncated} : tensor<4xi32>, tensor<4xi32>
  return %truncated : tensor<4xi32>
}

// CHECK-LABEL: @remainder_of_floats
func.func @remainder_of_floats(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: graph.mod %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
  %z = graph.mod %x, %y : tensor<4xf32>, tensor<4xf32>
  return %z : tensor<4xf32>
}

// CHECK-LABEL: @logic
func.func @logic(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK: graph.and %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xi1>
  %0 = graph.and %x, %x : tensor<4xi1>, tensor<4xi1>
  // CHECK: graph.xor %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xi1>
  %1 = graph.xor %0, %x : tensor<4xi1>, tensor<4xi1>
  return %1 : tensor<4xi1>
}

// CHECK-LABEL: @negation
func.func @negation(%x: tensor<4xi1>) -> tensor<4xi1> {
  // CHECK: graph.not %{{.*}} : tensor<4xi1>
  %0 = graph.not %x : tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: @bits
func.func @bits(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: graph.bit_and %{{.*}}, %{{.*}} : tensor<4xi32>, tensor<4xi32>
  %0 = graph.bit_and %x, %x : tensor<4xi32>, tensor<4xi32>
  // CHECK: graph.bit_or %{{.*}}, %{{.*}} : tensor<4xi32>, tensor<4xi32>
  %1 = graph.bit_or %0, %x : tensor<4xi32>, tensor<4xi32>
  // CHECK: graph.bit_xor %{{.*}}, %{{.*}} : tensor<4xi32>, tensor<4xi32>
  %2 = graph.bit_xor %1, %x : tensor<4xi32>, tensor<4xi32>
  return %2 : tensor<4xi32>
}

// Numbers of a step: every element has a counter, the step is the same for all.
// CHECK-LABEL: @random
func.func @random(%i: tensor<4x1xi64>, %step: tensor<i64>) -> tensor<4x1xf32> {
  // CHECK: graph.random %{{.*}}, %{{.*}} key 7 : tensor<4x1xi64>, tensor<i64>
  %r = graph.random %i, %step key 7 : tensor<4x1xi64>, tensor<i64>
  return %r : tensor<4x1xf32>
}
