// RUN: pcc-opt %s | pcc-opt | FileCheck %s

!query = tensor<1x4x8x16xf32>
!key = tensor<1x2x8x16xf32>

// Four query heads share two key heads.
// CHECK-LABEL: @attention
func.func @attention(%q: !query, %k: !key, %v: !key, %m: tensor<8x8xi1>) -> !query {
  // CHECK: graph.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} : tensor<8x8xi1>,
  // CHECK-SAME: {scale = 2.500000e-01 : f64}
  %y = graph.attention %q, %k, %v mask %m : tensor<8x8xi1>,
      {scale = 0.25 : f64} : !query, !key, !key
  return %y : !query
}

// CHECK-LABEL: @attention_with_bias
func.func @attention_with_bias(%q: !query, %k: !key, %v: !key, %m: tensor<8x8xf32>) -> !query {
  // CHECK: graph.attention %{{.*}}, %{{.*}}, %{{.*}} mask %{{.*}} : tensor<8x8xf32>,
  %y = graph.attention %q, %k, %v mask %m : tensor<8x8xf32>,
      {scale = 0.25 : f64} : !query, !key, !key
  return %y : !query
}

// CHECK-LABEL: @causal_attention
func.func @causal_attention(%q: !query, %k: !key, %v: !key) -> !query {
  // CHECK: graph.attention %{{.*}} {causal, scale = 2.500000e-01 : f64, softcap = 3.0
  %y = graph.attention %q, %k, %v {causal, scale = 0.25 : f64, softcap = 30.0 : f64}
      : !query, !key, !key
  return %y : !query
}

// CHECK-LABEL: @gradients
func.func @gradients(%q: !query, %k: !key, %v: !key, %g: !query, %m: tensor<8x8xi1>) -> (!query, !key, !key) {
  // CHECK: %{{.*}}, %[[T:.*]], %[[S:.*]], %[[M:.*]] = graph.attention_query_gradient
  // CHECK-SAME:   %{{.*}}, %{{.*}}, %{{.*}} of %{{.*}} mask %{{.*}} : tensor<8x8xi1>,
  // CHECK-SAME: {causal, scale = 2.500000e-01 : f64}
  %dq, %t, %s, %n = graph.attention_query_gradient %q, %k, %v of %g mask %m : tensor<8x8xi1>,
      {causal, scale = 0.25 : f64} : !query, !key, !key, !query
  // CHECK: %{{.*}}, %{{.*}} = graph.attention_key_gradient
  // CHECK-SAME:   %{{.*}}, %{{.*}}, %{{.*}} of %{{.*}} with %[[T]], %[[S]], %[[M]] {causal,
  %dk, %dv = graph.attention_key_gradient %q, %k, %v of %g with %t, %s, %n
      {causal, scale = 0.25 : f64} : !query, !key, !key, !query, tensor<1x4x8xf32>, tensor<1x4x8xf32>, tensor<1x4x8xf32>
  return %dq, %dk, %dv : !query, !key, !key
}
