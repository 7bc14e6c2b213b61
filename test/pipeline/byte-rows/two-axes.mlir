// RUN: pcc-opt --decide-shardings --expand-split-ops --insert-reshards --verify-sharded --localize-shapes \
// RUN:     --reshard-to-collectives --verify-local --split-input-file %s | %python %source/test/inline-aliases.py \
// RUN:   | FileCheck %s --implicit-check-not="received {{[1-9]}}"

// All collectives of layers whose weights are split twice or whose sums meet with the bytes that one
// rank receives; nothing else is received. B=4 S=256 H=1024 F=4096 bf16 on 4 ranks.

!up = tensor<1024x4096xbf16>
!down = tensor<4096x1024xbf16>
!rows = tensor<4x256x1024xbf16>
!wide = tensor<4x256x4096xbf16>

// Weights that are also split over the ranks of the batch are gathered, not x.
// CHECK-LABEL: @weights_are_gathered_over_d
module attributes {dist.mesh = #dist.mesh<d = 2, t = 4>, dist.seeds = [
    "x=[d,-,-]", "w1=[d,t]", "w2=[t,d]", "y=[d,-,-]"]} {
  func.func @weights_are_gathered_over_d(
      %x: !rows {graph.name = "x"}, %w1: !up {graph.name = "w1"}, %w2: !down {graph.name = "w2"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: all_gather {{.*}} from "[1024@d:2, 4096@t:4]" to "[-, 4096@t:4]"
    // CHECK-SAME: shape [1024, 4096] received 1048576{{ }}
    // CHECK: all_gather {{.*}} from "[4096@t:4, 1024@d:2]" to "[4096@t:4, -]"
    // CHECK-SAME: shape [4096, 1024] received 1048576{{ }}
    // CHECK: all_reduce {{.*}} from "[4@d:2, -, -] partial sum(t:4)" to "[4@d:2, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    %h = graph.matmul %x, %w1 : !rows, !up
    %a = graph.tanh %h : !wide
    %y = graph.matmul %a, %w2 : !wide, !down
    return %y : !rows
  }
}

// -----

!up = tensor<1024x4096xbf16>
!down = tensor<4096x1024xbf16>
!rows = tensor<4x256x1024xbf16>
!wide = tensor<4x256x4096xbf16>

// Gradients of weights are summed where they are kept; gathered weights serve both passes.
// CHECK-LABEL: @weight_gradients_are_scattered_over_d
module attributes {dist.mesh = #dist.mesh<d = 2, t = 4>, dist.seeds = [
    "w1=[d,t]", "w2=[t,d]", "dw1=[d,t]", "dw2=[t,d]", "x=[d,-,-]", "dy=[d,-,-]", "y=[d,-,-]",
    "dx=[d,-,-]"]} {
  func.func @weight_gradients_are_scattered_over_d(
      %x: !rows {graph.name = "x"}, %dy: !rows {graph.name = "dy"}, %w1: !up {graph.name = "w1"},
      %w2: !down {graph.name = "w2"})
      -> (!rows {graph.name = "y"}, !rows {graph.name = "dx"}, !up {graph.name = "dw1"},
          !down {graph.name = "dw2"}) {
    // CHECK: all_gather {{.*}} from "[1024@d:2, 4096@t:4]" to "[-, 4096@t:4]"
    // CHECK-SAME: shape [1024, 4096] received 1048576{{ }}
    // CHECK: all_gather {{.*}} from "[4096@t:4, 1024@d:2]" to "[4096@t:4, -]"
    // CHECK-SAME: shape [4096, 1024] received 1048576{{ }}
    // CHECK: all_reduce {{.*}} from "[4@d:2, -, -] partial sum(t:4)" to "[4@d:2, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    // CHECK: all_reduce {{.*}} from "[4@d:2, -, -] partial sum(t:4)" to "[4@d:2, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    // CHECK: reduce_scatter {{.*}} from "[-, 4096@t:4] partial sum(d:2)" to "[1024@d:2, 4096@t:4]"
    // CHECK-SAME: shape [1024, 4096] received 1048576{{ }}
    // CHECK: reduce_scatter {{.*}} from "[4096@t:4, -] partial sum(d:2)" to "[4096@t:4, 1024@d:2]"
    // CHECK-SAME: shape [4096, 1024] received 1048576{{ }}
    %0 = graph.constant dense<1.000000e+00> : tensor<bf16>
    %1 = graph.matmul %x, %w1 : !rows, !up
    %2 = graph.tanh %1 : !wide
    %y = graph.matmul %2, %w2 : !wide, !down
    %3 = graph.matmul %dy, %w2 {transpose_rhs} : !rows, !down
    %dw2 = graph.einsum "bsf,bsh->fh" %2, %dy : !wide, !rows
    %4 = graph.mul %2, %2 : !wide, !wide
    %5 = graph.sub %0, %4 : tensor<bf16>, !wide
    %6 = graph.mul %3, %5 : !wide, !wide
    %dw1 = graph.einsum "bsh,bsf->hf" %x, %6 : !rows, !wide
    %dx = graph.matmul %6, %w1 {transpose_rhs} : !wide, !up
    return %y, %dx, %dw1, %dw2 : !rows, !rows, !up, !down
  }
}

// -----

!square = tensor<1024x1024xbf16>
!up = tensor<1024x4096xbf16>
!down = tensor<4096x1024xbf16>
!rows = tensor<4x256x1024xbf16>
!wide = tensor<4x256x4096xbf16>

// Two pending sums are added, x once, then reduced once.
// CHECK-LABEL: @sums_meet_before_they_are_reduced
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "a2=[t,-]", "m2=[t,-]", "x=[-,-,-]", "y=[-,-,-]"]} {
  func.func @sums_meet_before_they_are_reduced(
      %x: !rows {graph.name = "x"}, %a1: !square {graph.name = "a1"}, %a2: !square {graph.name = "a2"},
      %m1: !up {graph.name = "m1"}, %m2: !down {graph.name = "m2"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
    %ah = graph.matmul %x, %a1 : !rows, !square
    %at = graph.tanh %ah : !rows
    %ao = graph.matmul %at, %a2 : !rows, !square
    %mh = graph.matmul %x, %m1 : !rows, !up
    %mt = graph.tanh %mh : !wide
    %mo = graph.matmul %mt, %m2 : !wide, !down
    %s = graph.add %ao, %mo : !rows, !rows
    %r = graph.add %s, %x : !rows, !rows
    %y = graph.tanh %r : !rows
    return %y : !rows
  }
}

// -----

!square = tensor<1024x1024xbf16>
!up = tensor<1024x4096xbf16>
!down = tensor<4096x1024xbf16>
!rows = tensor<4x256x1024xbf16>
!wide = tensor<4x256x4096xbf16>

// So are the contributions of both branches to dx.
// CHECK-LABEL: @gradients_meet_before_they_are_reduced
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "a2=[t,-]", "m2=[t,-]", "da1=[-,t]", "dm1=[-,t]", "da2=[t,-]", "dm2=[t,-]", "x=[-,-,-]",
    "dy=[-,-,-]", "y=[-,-,-]", "dx=[-,-,-]"]} {
  func.func @gradients_meet_before_they_are_reduced(
      %x: !rows {graph.name = "x"}, %dy: !rows {graph.name = "dy"}, %a1: !square {graph.name = "a1"},
      %a2: !square {graph.name = "a2"}, %m1: !up {graph.name = "m1"}, %m2: !down {graph.name = "m2"})
      -> (!rows {graph.name = "y"}, !rows {graph.name = "dx"}, !square {graph.name = "da1"},
          !square {graph.name = "da2"}, !up {graph.name = "dm1"}, !down {graph.name = "dm2"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
    %0 = graph.constant dense<1.000000e+00> : tensor<bf16>
    %1 = graph.matmul %x, %a1 : !rows, !square
    %2 = graph.tanh %1 : !rows
    %3 = graph.matmul %2, %a2 : !rows, !square
    %da2 = graph.einsum "bsf,bsh->fh" %2, %dy : !rows, !rows
    %4 = graph.matmul %dy, %a2 {transpose_rhs} : !rows, !square
    %5 = graph.mul %2, %2 : !rows, !rows
    %6 = graph.sub %0, %5 : tensor<bf16>, !rows
    %7 = graph.mul %4, %6 : !rows, !rows
    %da1 = graph.einsum "bsh,bsf->hf" %x, %7 : !rows, !rows
    %8 = graph.matmul %7, %a1 {transpose_rhs} : !rows, !square
    %9 = graph.matmul %x, %m1 : !rows, !up
    %10 = graph.tanh %9 : !wide
    %11 = graph.matmul %10, %m2 : !wide, !down
    %dm2 = graph.einsum "bsf,bsh->fh" %10, %dy : !wide, !rows
    %12 = graph.matmul %dy, %m2 {transpose_rhs} : !rows, !down
    %13 = graph.mul %10, %10 : !wide, !wide
    %14 = graph.sub %0, %13 : tensor<bf16>, !wide
    %15 = graph.mul %12, %14 : !wide, !wide
    %dm1 = graph.einsum "bsh,bsf->hf" %x, %15 : !rows, !wide
    %16 = graph.matmul %15, %m1 {transpose_rhs} : !wide, !up
    %17 = graph.add %3, %11 : !rows, !rows
    %y = graph.add %17, %x : !rows, !rows
    %18 = graph.add %8, %16 : !rows, !rows
    %dx = graph.add %18, %dy : !rows, !rows
    return %y, %dx, %da1, %da2, %dm1, %dm2 : !rows, !rows, !square, !square, !up, !down
  }
}
