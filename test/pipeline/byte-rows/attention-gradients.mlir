// RUN: pcc-opt --decide-shardings --expand-split-ops --insert-reshards --verify-sharded --localize-shapes \
// RUN:     --reshard-to-collectives --verify-local --split-input-file %s | %python %source/test/inline-aliases.py \
// RUN:   | FileCheck %s --implicit-check-not="received {{[1-9]}}"

// All collectives of attention with gradients with the bytes that one rank receives; nothing else is
// received. B=4 S=256 H=1024 heads of 64 bf16 on 4 ranks.

!square = tensor<1024x1024xbf16>
!scores = tensor<4x16x256x256xbf16>
!heads = tensor<4x16x256x64xbf16>
!rows = tensor<4x256x1024xbf16>
!split = tensor<4x256x16x64xbf16>

// Forward the result is reduced, backward dx, of which three contributions meet first.
// CHECK-LABEL: @heads_are_independent_backward
module attributes {dist.mesh = #dist.mesh<tp = 4>, dist.seeds = [
    "wo=[tp,-]", "dwo=[tp,-]", "wq=[-,tp]", "dwq=[-,tp]", "x=[-,-,-]", "dy=[-,-,-]", "y=[-,-,-]",
    "dx=[-,-,-]", "wk=[-,tp]", "wv=[-,tp]", "dwk=[-,tp]", "dwv=[-,tp]"]} {
  graph.parameter @mask : tensor<256x256xf32>
  func.func @heads_are_independent_backward(
      %x: !rows {graph.batch_dim = 0 : i64, graph.name = "x"},
      %dy: !rows {graph.batch_dim = 0 : i64, graph.name = "dy"}, %wq: !square {graph.name = "wq"},
      %wk: !square {graph.name = "wk"}, %wv: !square {graph.name = "wv"},
      %wo: !square {graph.name = "wo"})
      -> (!rows {graph.name = "y"}, !rows {graph.name = "dx"}, !square {graph.name = "dwq"},
          !square {graph.name = "dwk"}, !square {graph.name = "dwv"}, !square {graph.name = "dwo"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(tp:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(tp:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
    %0 = graph.constant dense<1.250000e-01> : tensor<bf16>
    %1 = graph.matmul %x, %wq : !rows, !square
    %2 = graph.reshape %1 : !rows to !split
    %3 = graph.transpose %2 [0, 2, 1, 3] : !split
    %4 = graph.matmul %x, %wk : !rows, !square
    %5 = graph.reshape %4 : !rows to !split
    %6 = graph.transpose %5 [0, 2, 1, 3] : !split
    %7 = graph.matmul %x, %wv : !rows, !square
    %8 = graph.reshape %7 : !rows to !split
    %9 = graph.transpose %8 [0, 2, 1, 3] : !split
    %10 = graph.get_parameter @mask : tensor<256x256xf32>
    %11 = graph.cast %10 : tensor<256x256xf32> to tensor<256x256xbf16>
    %12 = graph.matmul %3, %6 {transpose_rhs} : !heads, !heads
    %13 = graph.mul %12, %0 : !scores, tensor<bf16>
    %14 = graph.add %13, %11 : !scores, tensor<256x256xbf16>
    %p = graph.softmax %14 over 3 : !scores
    %15 = graph.matmul %p, %9 : !scores, !heads
    %16 = graph.transpose %15 [0, 2, 1, 3] : !heads
    %17 = graph.reshape %16 : !split to !rows
    %y = graph.matmul %17, %wo : !rows, !square
    %dwo = graph.einsum "bso,bsh->oh" %17, %dy : !rows, !rows
    %18 = graph.matmul %dy, %wo {transpose_rhs} : !rows, !square
    %19 = graph.reshape %18 : !rows to !split
    %20 = graph.transpose %19 [0, 2, 1, 3] : !split
    %21 = graph.matmul %20, %9 {transpose_rhs} : !heads, !heads
    %22 = graph.mul %21, %p : !scores, !scores
    %23 = graph.reduce sum %22 over [3] keep : !scores
    %24 = graph.sub %21, %23 : !scores, tensor<4x16x256x1xbf16>
    %25 = graph.mul %p, %24 : !scores, !scores
    %ds = graph.mul %25, %0 : !scores, tensor<bf16>
    %26 = graph.matmul %ds, %6 : !scores, !heads
    %27 = graph.matmul %ds, %3 {transpose_lhs} : !scores, !heads
    %28 = graph.matmul %p, %20 {transpose_lhs} : !scores, !heads
    %29 = graph.transpose %26 [0, 2, 1, 3] : !heads
    %30 = graph.reshape %29 : !split to !rows
    %dwq = graph.einsum "bsh,bso->ho" %x, %30 : !rows, !rows
    %31 = graph.matmul %30, %wq {transpose_rhs} : !rows, !square
    %32 = graph.transpose %27 [0, 2, 1, 3] : !heads
    %33 = graph.reshape %32 : !split to !rows
    %dwk = graph.einsum "bsh,bso->ho" %x, %33 : !rows, !rows
    %34 = graph.matmul %33, %wk {transpose_rhs} : !rows, !square
    %35 = graph.transpose %28 [0, 2, 1, 3] : !heads
    %36 = graph.reshape %35 : !split to !rows
    %dwv = graph.einsum "bsh,bso->ho" %x, %36 : !rows, !rows
    %37 = graph.matmul %36, %wv {transpose_rhs} : !rows, !square
    %38 = graph.add %31, %34 : !rows, !rows
    %dx = graph.add %38, %37 : !rows, !rows
    return %y, %dx, %dwq, %dwk, %dwv, %dwo : !rows, !rows, !square, !square, !square, !square
  }
}

// -----

!square = tensor<1024x1024xbf16>
!narrow = tensor<1024x128xbf16>
!rows = tensor<4x256x1024xbf16>
!kept = tensor<4x256x128xbf16>
!split_keys = tensor<4x256x2x1x64xbf16>
!split = tensor<4x256x2x8x64xbf16>
!keys = tensor<4x2x1x256x64xbf16>
!scores = tensor<4x2x8x256x256xbf16>
!queries = tensor<4x2x8x256x64xbf16>

// Gradients of the weights of keys and values are summed over the two ranks that share them.
// CHECK-LABEL: @shared_keys_are_summed
module attributes {dist.mesh = #dist.mesh<tp = 4>, dist.seeds = [
    "wo=[tp,-]", "dwo=[tp,-]", "wq=[-,tp]", "dwq=[-,tp]", "x=[-,-,-]", "dy=[-,-,-]", "y=[-,-,-]",
    "dx=[-,-,-]", "wk=[-,tp:(1)2]", "wv=[-,tp:(1)2]", "dwk=[-,tp:(1)2]", "dwv=[-,tp:(1)2]",
    "p=[-,tp:(1)2,tp:(2)2,-,-]", "ds=[-,tp:(1)2,tp:(2)2,-,-]"]} {
  graph.parameter @mask : tensor<256x256xf32>
  func.func @shared_keys_are_summed(
      %x: !rows {graph.batch_dim = 0 : i64, graph.name = "x"},
      %dy: !rows {graph.batch_dim = 0 : i64, graph.name = "dy"}, %wq: !square {graph.name = "wq"},
      %wk: !narrow {graph.name = "wk"}, %wv: !narrow {graph.name = "wv"},
      %wo: !square {graph.name = "wo"})
      -> (!rows {graph.name = "y"}, !rows {graph.name = "dx"}, !square {graph.name = "dwq"},
          !narrow {graph.name = "dwk"}, !narrow {graph.name = "dwv"}, !square {graph.name = "dwo"}) {
    // CHECK: all_to_all {{.*}} from "[-, -, 1024@tp:4]" to "[-, 256@tp:2, 2|512@tp:(2)2]"
    // CHECK-SAME: shape [4, 256, 1024] received 262144{{ }}
    // CHECK: all_gather {{.*}} from "[1024@tp:4, -]" to "[2|512@tp:(2)2, -]"
    // CHECK-SAME: shape [1024, 1024] received 524288{{ }}
    // CHECK: all_reduce {{.*}} from "[-, 2@tp:2, -, -, -] partial sum(tp:(2)2)" to "[-, 2@tp:2, -, -, -]"
    // CHECK-SAME: shape [4, 2, 1, 256, 64] received 131072{{ }}
    // CHECK: all_reduce {{.*}} from "[-, 2@tp:2, -, -, -] partial sum(tp:(2)2)" to "[-, 2@tp:2, -, -, -]"
    // CHECK-SAME: shape [4, 2, 1, 256, 64] received 131072{{ }}
    // CHECK: all_reduce {{.*}} from "[-, 256@tp:2, -] partial sum(tp:(2)2)" to "[-, 256@tp:2, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1048576{{ }}
    // CHECK: all_gather {{.*}} from "[-, 256@tp:2, -]" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1048576{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(tp:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
    %0 = graph.constant dense<1.250000e-01> : tensor<bf16>
    %1 = graph.matmul %x, %wq : !rows, !square
    %2 = graph.reshape %1 : !rows to !split
    %3 = graph.transpose %2 [0, 2, 3, 1, 4] : !split
    %4 = graph.matmul %x, %wk : !rows, !narrow
    %5 = graph.reshape %4 : !kept to !split_keys
    %6 = graph.transpose %5 [0, 2, 3, 1, 4] : !split_keys
    %7 = graph.matmul %x, %wv : !rows, !narrow
    %8 = graph.reshape %7 : !kept to !split_keys
    %9 = graph.transpose %8 [0, 2, 3, 1, 4] : !split_keys
    %10 = graph.get_parameter @mask : tensor<256x256xf32>
    %11 = graph.cast %10 : tensor<256x256xf32> to tensor<256x256xbf16>
    %12 = graph.matmul %3, %6 {transpose_rhs} : !queries, !keys
    %13 = graph.mul %12, %0 : !scores, tensor<bf16>
    %14 = graph.add %13, %11 : !scores, tensor<256x256xbf16>
    %p = graph.softmax %14 over 4 {graph.name = "p"} : !scores
    %15 = graph.matmul %p, %9 : !scores, !keys
    %16 = graph.transpose %15 [0, 3, 1, 2, 4] : !queries
    %17 = graph.reshape %16 : !split to !rows
    %y = graph.matmul %17, %wo : !rows, !square
    %dwo = graph.einsum "bso,bsh->oh" %17, %dy : !rows, !rows
    %18 = graph.matmul %dy, %wo {transpose_rhs} : !rows, !square
    %19 = graph.reshape %18 : !rows to !split
    %20 = graph.transpose %19 [0, 2, 3, 1, 4] : !split
    %21 = graph.matmul %20, %9 {transpose_rhs} : !queries, !keys
    %22 = graph.mul %21, %p : !scores, !scores
    %23 = graph.reduce sum %22 over [4] keep : !scores
    %24 = graph.sub %21, %23 : !scores, tensor<4x2x8x256x1xbf16>
    %25 = graph.mul %p, %24 : !scores, !scores
    %ds = graph.mul %25, %0 {graph.name = "ds"} : !scores, tensor<bf16>
    %26 = graph.matmul %ds, %6 : !scores, !keys
    %27 = graph.matmul %ds, %3 {transpose_lhs} : !scores, !queries
    %28 = graph.reduce sum %27 over [2] keep : !queries
    %29 = graph.matmul %p, %20 {transpose_lhs} : !scores, !queries
    %30 = graph.reduce sum %29 over [2] keep : !queries
    %31 = graph.transpose %26 [0, 3, 1, 2, 4] : !queries
    %32 = graph.reshape %31 : !split to !rows
    %dwq = graph.einsum "bsh,bso->ho" %x, %32 : !rows, !rows
    %33 = graph.matmul %32, %wq {transpose_rhs} : !rows, !square
    %34 = graph.transpose %28 [0, 3, 1, 2, 4] : !keys
    %35 = graph.reshape %34 : !split_keys to !kept
    %dwk = graph.einsum "bsh,bso->ho" %x, %35 : !rows, !kept
    %36 = graph.matmul %35, %wk {transpose_rhs} : !kept, !narrow
    %37 = graph.transpose %30 [0, 3, 1, 2, 4] : !keys
    %38 = graph.reshape %37 : !split_keys to !kept
    %dwv = graph.einsum "bsh,bso->ho" %x, %38 : !rows, !kept
    %39 = graph.matmul %38, %wv {transpose_rhs} : !kept, !narrow
    %40 = graph.add %33, %36 : !rows, !rows
    %dx = graph.add %40, %39 : !rows, !rows
    return %y, %dx, %dwq, %dwk, %dwv, %dwo : !rows, !rows, !square, !narrow, !narrow, !square
  }
}
