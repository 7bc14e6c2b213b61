// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

// Columns of a fused projection are [3, heads · width]: every rank holds columns of q, k and v.
// CHECK-LABEL: @fused_qkv
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  graph.parameter @qkv : tensor<64x192xf32>
  func.func @fused_qkv(%x: tensor<2x8x64xf32> {graph.batch_dim = 0 : i64}) -> tensor<2x8x4x16xf32> {
    // CHECK: graph.get_parameter @qkv {{.*}}shardings = ["[-, 3|64@tp:2]"]
    %w = graph.get_parameter @qkv : tensor<64x192xf32>
    %y = graph.matmul %x, %w : tensor<2x8x64xf32>, tensor<64x192xf32>
    // CHECK: graph.slice {{.*}}shardings = ["[-, -, 64@tp:2]"]
    %k = graph.slice %y starts [0, 0, 64] sizes [2, 8, 64] steps [1, 1, 1] : tensor<2x8x192xf32>
    // CHECK: graph.reshape {{.*}}shardings = ["[-, -, 4@tp:2, -]"]
    %h = graph.reshape %k : tensor<2x8x64xf32> to tensor<2x8x4x16xf32>
    %s = graph.softmax %h over 3 : tensor<2x8x4x16xf32>
    return %s : tensor<2x8x4x16xf32>
  }
}

// -----

!x = tensor<2x8x64xf32>
!h = tensor<2x8x4x16xf32>
!t = tensor<2x4x8x16xf32>
!w = tensor<64x64xf32>

// Heads are split from the projections to the output projection: one reduction at the end.
// CHECK-LABEL: @attention_by_heads
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["y=[-,-,-]"]} {
  graph.parameter @q : !w
  graph.parameter @o : !w
  func.func @attention_by_heads(%x: !x {graph.batch_dim = 0 : i64})
      -> (!x {graph.name = "y"}) {
    // CHECK: graph.get_parameter @q {{.*}}shardings = ["[-, 64@tp:2]"]
    %q = graph.get_parameter @q : !w
    %0 = graph.matmul %x, %q : !x, !w
    %1 = graph.reshape %0 : !x to !h
    // CHECK: graph.transpose {{.*}}shardings = ["[-, 4@tp:2, -, -]"]
    %2 = graph.transpose %1 [0, 2, 1, 3] : !h
    // CHECK: graph.attention {{.*}}shardings = ["[-, 4@tp:2, -, -]"]
    %3 = graph.attention %2, %2, %2 {scale = 0.25 : f64} : !t, !t, !t
    %4 = graph.transpose %3 [0, 2, 1, 3] : !t
    // CHECK: graph.reshape {{.*}}shardings = ["[-, -, 64@tp:2]"]
    %5 = graph.reshape %4 : !h to !x
    // CHECK: graph.get_parameter @o {{.*}}shardings = ["[64@tp:2, -]"]
    %o = graph.get_parameter @o : !w
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -, -] partial sum(tp:2)"]
    %6 = graph.matmul %5, %o : !x, !w
    // CHECK: dist.reshard {{.*}} from "[-, -, -] partial sum(tp:2)" to "[-, -, -]"
    return %6 : !x
  }
}

// -----

!x = tensor<2x8x64xf32>
!q = tensor<2x8x8x8xf32>
!k = tensor<2x8x2x8xf32>

// Two key heads over four ranks: tp:(1)2 splits them, tp:(2)2 the four queries of each.
// CHECK-LABEL: @fewer_key_heads_than_ranks
module attributes {dist.mesh = #dist.mesh<tp = 4>} {
  graph.parameter @k : tensor<64x16xf32>
  func.func @fewer_key_heads_than_ranks(%q: !q {graph.batch_dim = 0 : i64},
      %x: !x {graph.batch_dim = 0 : i64}) -> !q {
    // CHECK: graph.get_parameter @k {{.*}}shardings = ["[-, 16@tp:2]"]
    %w = graph.get_parameter @k : tensor<64x16xf32>
    %0 = graph.matmul %x, %w : !x, tensor<64x16xf32>
    %1 = graph.reshape %0 : tensor<2x8x16xf32> to !k
    // CHECK: graph.transpose {{.*}}shardings = ["[-, 2@tp:2, -, -]"]
    %2 = graph.transpose %1 [0, 2, 1, 3] : !k
    // CHECK: graph.attention {{.*}}shardings = ["[-, 8@tp:4, -, -]"]
    %3 = graph.attention %q, %2, %2 {scale = 0.25 : f64}
        : !q, tensor<2x2x8x8xf32>, tensor<2x2x8x8xf32>
    return %3 : !q
  }
}

// -----

// Fewer heads than ranks, which the next op sees cut once more: [2@tp|16] and [4@tp|8] are 16, 16 and 0 columns.
// CHECK-LABEL: @uneven_heads_of_two_widths
module attributes {dist.mesh = #dist.mesh<tp = 3>, dist.seeds = ["h=[-,-,tp,-]", "m=[-,-,tp,-]"]} {
  func.func @uneven_heads_of_two_widths(%x: tensor<2x8x2x16xf32>) -> (tensor<2x8x4x8xf32> {graph.name = "m"}) {
    %0 = graph.softmax %x over 3 {graph.name = "h"} : tensor<2x8x2x16xf32>
    // CHECK-NOT: dist.reshard
    // CHECK: graph.reshape {{.*}}shardings = ["[-, -, 4@tp:3|8]"]
    %1 = graph.reshape %0 : tensor<2x8x2x16xf32> to tensor<2x8x32xf32>
    // CHECK-NOT: dist.reshard
    // CHECK: graph.reshape {{.*}}shardings = ["[-, -, 4@tp:3, -]"]
    %2 = graph.reshape %1 : tensor<2x8x32xf32> to tensor<2x8x4x8xf32>
    // CHECK-NOT: dist.reshard
    // CHECK: graph.exp
    %3 = graph.exp %2 {graph.name = "m"} : tensor<2x8x4x8xf32>
    return %3 : tensor<2x8x4x8xf32>
  }
}
