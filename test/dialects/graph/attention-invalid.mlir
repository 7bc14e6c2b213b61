// RUN: pcc-opt %s --verify-diagnostics --split-input-file

func.func @heads_that_do_not_divide(%q: tensor<1x4x8x16xf32>, %k: tensor<1x3x8x16xf32>) {
  // expected-error @below {{has 4 query heads, which 3 key heads do not divide}}
  %y = graph.attention %q, %k, %k {scale = 0.25 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>
  return
}
// -----

func.func @keys_of_another_width(%q: tensor<1x4x8x16xf32>, %k: tensor<1x4x8x8xf32>) {
  // expected-error @below {{which do not fit}}
  %y = graph.attention %q, %k, %k {scale = 0.25 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x4x8x8xf32>, tensor<1x4x8x8xf32>
  return
}
// -----

func.func @mask_of_other_keys(%q: tensor<1x4x8x16xf32>, %m: tensor<8x7xi1>) {
  // expected-error @below {{has a mask 'tensor<8x7xi1>' that does not fit query}}
  %y = graph.attention %q, %q, %q mask %m : tensor<8x7xi1>, {scale = 0.25 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>
  return
}
// -----

func.func @a_gradient_of_another_shape(%q: tensor<1x4x8x16xf32>, %g: tensor<1x4x8x8xf32>) {
  // expected-error @below {{has a gradient of 'tensor<1x4x8x8xf32>', not 'tensor<1x4x8x16xf32>'}}
  %dq, %t, %s, %m = graph.attention_query_gradient %q, %q, %q of %g {scale = 0.25 : f64}
      : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x8xf32>
  return
}
// -----

func.func @rows_of_narrow_numbers(%q: tensor<1x4x8x16xbf16>, %l: tensor<1x4x8xbf16>) {
  // expected-error @below {{has a top of 'tensor<1x4x8xbf16>', not 'tensor<1x4x8xf32>'}}
  %dk, %dv = graph.attention_key_gradient %q, %q, %q of %q with %l, %l, %l {scale = 0.25 : f64}
      : tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16>, tensor<1x4x8xbf16>, tensor<1x4x8xbf16>, tensor<1x4x8xbf16>
  return
}
