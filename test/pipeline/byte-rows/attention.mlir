// RUN: pcc-opt --decide-shardings --expand-split-ops --insert-reshards --verify-sharded --localize-shapes \
// RUN:     --reshard-to-collectives --verify-local --split-input-file %s | %python %source/test/inline-aliases.py \
// RUN:   | FileCheck %s --implicit-check-not="received {{[1-9]}}"

// All collectives of attention with the bytes that one rank receives; nothing else is received. B=4
// S=256 H=1024 heads of 64 bf16 on 4 ranks.

!square = tensor<1024x1024xbf16>
!scores = tensor<4x16x256x256xbf16>
!heads = tensor<4x16x256x64xbf16>
!rows = tensor<4x256x1024xbf16>
!split = tensor<4x256x16x64xbf16>

// Heads are split: nothing moves at reshapes, transposes and the softmax.
// CHECK-LABEL: @heads_are_independent
module attributes {dist.mesh = #dist.mesh<tp = 4>, dist.seeds = [
    "wo=[tp,-]", "wq=[-,tp]", "p=[-,tp,-,-]", "x=[-,-,-]", "y=[-,-,-]", "wk=[-,tp]", "wv=[-,tp]"]} {
  func.func @heads_are_independent(
      %x: !rows {graph.batch_dim = 0 : i64, graph.name = "x"}, %wq: !square {graph.name = "wq"},
      %wk: !square {graph.name = "wk"}, %wv: !square {graph.name = "wv"},
      %wo: !square {graph.name = "wo"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(tp:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
    %q = graph.matmul %x, %wq : !rows, !square
    %qr = graph.reshape %q : !rows to !split
    %qh = graph.transpose %qr [0, 2, 1, 3] : !split
    %k = graph.matmul %x, %wk : !rows, !square
    %kr = graph.reshape %k : !rows to !split
    %kh = graph.transpose %kr [0, 2, 1, 3] : !split
    %v = graph.matmul %x, %wv : !rows, !square
    %vr = graph.reshape %v : !rows to !split
    %vh = graph.transpose %vr [0, 2, 1, 3] : !split
    %s = graph.matmul %qh, %kh {transpose_rhs} : !heads, !heads
    %p = graph.softmax %s over 3 {graph.name = "p"} : !scores
    %o = graph.matmul %p, %vh : !scores, !heads
    %ot = graph.transpose %o [0, 2, 1, 3] : !heads
    %or = graph.reshape %ot : !split to !rows
    %y = graph.matmul %or, %wo : !rows, !square
    return %y : !rows
  }
}

// -----

!square = tensor<1024x1024xbf16>
!narrow = tensor<1024x128xbf16>
!scores = tensor<4x16x256x256xbf16>
!heads = tensor<4x16x256x64xbf16>
!rows = tensor<4x256x1024xbf16>
!kept = tensor<4x256x128xbf16>
!split = tensor<4x256x16x64xbf16>
!keys = tensor<4x2x1x256x64xbf16>
!queries = tensor<4x2x8x256x64xbf16>

// Two heads of keys on four ranks lie on the outer half of the axis. Behind the heads the inner half
// goes to the sequence: fewer bytes than the reduction over four.
// CHECK-LABEL: @two_heads_of_keys
module attributes {dist.mesh = #dist.mesh<tp = 4>, dist.seeds = [
    "wo=[tp,-]", "wq=[-,tp]", "p=[-,tp,-,-]", "x=[-,-,-]", "y=[-,-,-]", "wk=[-,tp:(1)2]",
    "wv=[-,tp:(1)2]"]} {
  func.func @two_heads_of_keys(
      %x: !rows {graph.batch_dim = 0 : i64, graph.name = "x"}, %wq: !square {graph.name = "wq"},
      %wk: !narrow {graph.name = "wk"}, %wv: !narrow {graph.name = "wv"},
      %wo: !square {graph.name = "wo"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: all_to_all {{.*}} from "[-, 16@tp:4, -, -]" to "[-, 16@tp:2, 256@tp:(2)2, -]"
    // CHECK-SAME: shape [4, 16, 256, 64] received 262144{{ }}
    // CHECK: all_gather {{.*}} from "[1024@tp:4, -]" to "[1024@tp:2, -]"
    // CHECK-SAME: shape [1024, 1024] received 524288{{ }}
    // CHECK: all_reduce {{.*}} from "[-, 256@tp:(2)2, -] partial sum(tp:2)" to "[-, 256@tp:(2)2, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1048576{{ }}
    // CHECK: all_gather {{.*}} from "[-, 256@tp:(2)2, -]" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1048576{{ }}
    %q = graph.matmul %x, %wq : !rows, !square
    %qr = graph.reshape %q : !rows to !split
    %qh = graph.transpose %qr [0, 2, 1, 3] : !split
    %k = graph.matmul %x, %wk : !rows, !narrow
    %kr = graph.reshape %k : !kept to tensor<4x256x2x64xbf16>
    %kh = graph.transpose %kr [0, 2, 1, 3] : tensor<4x256x2x64xbf16>
    %ke = graph.reshape %kh : tensor<4x2x256x64xbf16> to !keys
    %kg = graph.broadcast %ke : !keys to !queries
    %ka = graph.reshape %kg : !queries to !heads
    %v = graph.matmul %x, %wv : !rows, !narrow
    %vr = graph.reshape %v : !kept to tensor<4x256x2x64xbf16>
    %vh = graph.transpose %vr [0, 2, 1, 3] : tensor<4x256x2x64xbf16>
    %ve = graph.reshape %vh : tensor<4x2x256x64xbf16> to !keys
    %vg = graph.broadcast %ve : !keys to !queries
    %va = graph.reshape %vg : !queries to !heads
    %s = graph.matmul %qh, %ka {transpose_rhs} : !heads, !heads
    %p = graph.softmax %s over 3 {graph.name = "p"} : !scores
    %o = graph.matmul %p, %va : !scores, !heads
    %ot = graph.transpose %o [0, 2, 1, 3] : !heads
    %or = graph.reshape %ot : !split to !rows
    %y = graph.matmul %or, %wo : !rows, !square
    return %y : !rows
  }
}

// -----

!rows = tensor<4x256x1024xbf16>

// Each rank has a part of each of the three: nothing moves.
// CHECK-LABEL: @fused_weights_are_strided
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["y=[-,-,t]"]} {
  func.func @fused_weights_are_strided(
      %x: !rows {graph.batch_dim = 0 : i64, graph.name = "x"},
      %w: tensor<1024x3072xbf16> {graph.name = "w"})
      -> (!rows {graph.name = "y"}) {
    %z = graph.matmul %x, %w : !rows, tensor<1024x3072xbf16>
    %q = graph.slice %z starts [0, 0, 0] sizes [4, 256, 1024] steps [1, 1, 1] : tensor<4x256x3072xbf16>
    %k = graph.slice %z starts [0, 0, 1024] sizes [4, 256, 1024] steps [1, 1, 1]
        : tensor<4x256x3072xbf16>
    %v = graph.slice %z starts [0, 0, 2048] sizes [4, 256, 1024] steps [1, 1, 1]
        : tensor<4x256x3072xbf16>
    %qk = graph.mul %q, %k : !rows, !rows
    %y = graph.mul %qk, %v : !rows, !rows
    return %y : !rows
  }
}

// -----

!rows = tensor<4x256x1024xbf16>

// Runs of columns as the user wants them hold whole thirds: these change places.
// CHECK-LABEL: @contiguous_parts_are_exchanged
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "x=[-,-,-]", "w=[-,t]", "y=[-,-,t]"]} {
  func.func @contiguous_parts_are_exchanged(
      %x: !rows {graph.batch_dim = 0 : i64, graph.name = "x"},
      %w: tensor<1024x3072xbf16> {graph.name = "w"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: exchange {{.*}} from "[-, 3072@t:4]" to "[-, 3|1024@t:4]"
    // CHECK-SAME: shape [1024, 3072] received 1048576{{ }}
    %z = graph.matmul %x, %w : !rows, tensor<1024x3072xbf16>
    %q = graph.slice %z starts [0, 0, 0] sizes [4, 256, 1024] steps [1, 1, 1] : tensor<4x256x3072xbf16>
    %k = graph.slice %z starts [0, 0, 1024] sizes [4, 256, 1024] steps [1, 1, 1]
        : tensor<4x256x3072xbf16>
    %v = graph.slice %z starts [0, 0, 2048] sizes [4, 256, 1024] steps [1, 1, 1]
        : tensor<4x256x3072xbf16>
    %qk = graph.mul %q, %k : !rows, !rows
    %y = graph.mul %qk, %v : !rows, !rows
    return %y : !rows
  }
}
