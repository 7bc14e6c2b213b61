// RUN: pcc-opt --decide-shardings --expand-split-ops --insert-reshards --verify-sharded --localize-shapes \
// RUN:     --reshard-to-collectives --verify-local --split-input-file %s | %python %source/test/inline-aliases.py \
// RUN:   | FileCheck %s --implicit-check-not="received {{[1-9]}}"

// All collectives of two-layer perceptrons with the bytes that one rank receives; nothing else is
// received. B=4 S=256 H=1024 F=4096 bf16 on 4 ranks.

!up = tensor<1024x4096xbf16>
!down = tensor<4096x1024xbf16>
!rows = tensor<4x256x1024xbf16>
!wide = tensor<4x256x4096xbf16>

// Columns, then rows: the result alone is reduced.
// CHECK-LABEL: @columns_then_rows
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "w1=[-,t]", "w2=[t,-]", "x=[-,-,-]", "y=[-,-,-]"]} {
  func.func @columns_then_rows(
      %x: !rows {graph.name = "x"}, %w1: !up {graph.name = "w1"}, %w2: !down {graph.name = "w2"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
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

// Backward dx alone is reduced; gradients of weights lie as the weights do.
// CHECK-LABEL: @columns_then_rows_gradients
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "w1=[-,t]", "w2=[t,-]", "dw1=[-,t]", "dw2=[t,-]", "x=[-,-,-]", "dy=[-,-,-]", "y=[-,-,-]",
    "dx=[-,-,-]"]} {
  func.func @columns_then_rows_gradients(
      %x: !rows {graph.name = "x"}, %dy: !rows {graph.name = "dy"}, %w1: !up {graph.name = "w1"},
      %w2: !down {graph.name = "w2"})
      -> (!rows {graph.name = "y"}, !rows {graph.name = "dx"}, !up {graph.name = "dw1"},
          !down {graph.name = "dw2"}) {
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
    // CHECK: all_reduce {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 3145728{{ }}
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

!up = tensor<1024x4096xbf16>
!down = tensor<4096x1024xbf16>
!rows = tensor<4x256x1024xbf16>
!wide = tensor<4x256x4096xbf16>

// Between blocks the sequence is split: the reduction is halved into a gather and a scatter.
// CHECK-LABEL: @split_sequence
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "w1=[-,t]", "w2=[t,-]", "x=[-,t,-]", "y=[-,t,-]"]} {
  func.func @split_sequence(
      %x: !rows {graph.name = "x"}, %w1: !up {graph.name = "w1"}, %w2: !down {graph.name = "w2"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: all_gather {{.*}} from "[-, 256@t:4, -]" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    // CHECK: reduce_scatter {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, 256@t:4, -]"
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

// The gathered x serves dw1, too.
// CHECK-LABEL: @split_sequence_gradients
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "w1=[-,t]", "w2=[t,-]", "dw1=[-,t]", "dw2=[t,-]", "x=[-,t,-]", "dy=[-,t,-]", "y=[-,t,-]",
    "dx=[-,t,-]"]} {
  func.func @split_sequence_gradients(
      %x: !rows {graph.name = "x"}, %dy: !rows {graph.name = "dy"}, %w1: !up {graph.name = "w1"},
      %w2: !down {graph.name = "w2"})
      -> (!rows {graph.name = "y"}, !rows {graph.name = "dx"}, !up {graph.name = "dw1"},
          !down {graph.name = "dw2"}) {
    // CHECK: all_gather {{.*}} from "[-, 256@t:4, -]" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    // CHECK: all_gather {{.*}} from "[-, 256@t:4, -]" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    // CHECK: reduce_scatter {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, 256@t:4, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    // CHECK: reduce_scatter {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, 256@t:4, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
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

!up = tensor<1024x4096xbf16>
!down = tensor<4096x1024xbf16>
!rows = tensor<4x256x1024xbf16>
!wide = tensor<4x256x4096xbf16>

// A value that the forward pass did not keep is gathered again: one more gather.
// CHECK-LABEL: @split_sequence_backward_alone
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "w1=[-,t]", "w2=[t,-]", "dw1=[-,t]", "dw2=[t,-]", "a=[-,-,t]", "x=[-,t,-]", "dy=[-,t,-]",
    "dx=[-,t,-]"]} {
  func.func @split_sequence_backward_alone(
      %x: !rows {graph.name = "x"}, %dy: !rows {graph.name = "dy"}, %a: !wide {graph.name = "a"},
      %w1: !up {graph.name = "w1"}, %w2: !down {graph.name = "w2"})
      -> (!rows {graph.name = "dx"}, !up {graph.name = "dw1"}, !down {graph.name = "dw2"}) {
    // CHECK: all_gather {{.*}} from "[-, 256@t:4, -]" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    // CHECK: all_gather {{.*}} from "[-, 256@t:4, -]" to "[-, -, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    // CHECK: reduce_scatter {{.*}} from "[-, -, -] partial sum(t:4)" to "[-, 256@t:4, -]"
    // CHECK-SAME: shape [4, 256, 1024] received 1572864{{ }}
    %0 = graph.constant dense<1.000000e+00> : tensor<bf16>
    %1 = graph.matmul %dy, %w2 {transpose_rhs} : !rows, !down
    %dw2 = graph.einsum "bsf,bsh->fh" %a, %dy : !wide, !rows
    %2 = graph.mul %a, %a : !wide, !wide
    %3 = graph.sub %0, %2 : tensor<bf16>, !wide
    %4 = graph.mul %1, %3 : !wide, !wide
    %dw1 = graph.einsum "bsh,bsf->hf" %x, %4 : !rows, !wide
    %dx = graph.matmul %4, %w1 {transpose_rhs} : !wide, !up
    return %dx, %dw1, %dw2 : !rows, !up, !down
  }
}
