// RUN: pcc-opt --decide-shardings --expand-split-ops --insert-reshards --verify-sharded --localize-shapes \
// RUN:     --reshard-to-collectives --verify-local --split-input-file %s | %python %source/test/inline-aliases.py \
// RUN:   | FileCheck %s --implicit-check-not="received {{[1-9]}}"

// All collectives of one-hot experts with the bytes that one rank receives; nothing else is received.
// B=4 S=256 H=1024 4 experts, two of each token, bf16 on 4 ranks.

!weights = tensor<4x1024x1024xbf16>
!rows = tensor<4x256x1024xbf16>
!send = tensor<4x256x4x128xbf16>
!places = tensor<4x4x128x1024xbf16>

// Groups of tokens and experts lie on the same axis: two all-to-alls.
// CHECK-LABEL: @tokens_go_to_experts_and_back
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "x=[t,-,-]", "y=[t,-,-]", "w1=[t,-,-]", "w2=[t,-,-]", "send=[t,-,-,-]", "back=[t,-,-,-]"]} {
  func.func @tokens_go_to_experts_and_back(
      %x: !rows {graph.name = "x"}, %send: !send {graph.name = "send"},
      %back: !send {graph.name = "back"}, %w1: !weights {graph.name = "w1"},
      %w2: !weights {graph.name = "w2"})
      -> (!rows {graph.name = "y"}) {
    // CHECK: all_to_all {{.*}} from "[-, 4@t:4, -, -]" to "[4@t:4, -, -, -]"
    // CHECK-SAME: shape [4, 4, 128, 1024] received 786432{{ }}
    // CHECK: all_to_all {{.*}} from "[4@t:4, -, -, -]" to "[-, 4@t:4, -, -]"
    // CHECK-SAME: shape [4, 4, 128, 1024] received 786432{{ }}
    %e = graph.einsum "gsec,gsm->egcm" %send, %x : !send, !rows
    %0 = graph.einsum "egcm,emf->egcf" %e, %w1 : !places, !weights
    %a = graph.tanh %0 : !places
    %o = graph.einsum "egcf,efm->egcm" %a, %w2 : !places, !weights
    %y = graph.einsum "gsec,egcm->gsm" %back, %o : !send, !places
    return %y : !rows
  }
}

// -----

!weights = tensor<4x1024x1024xbf16>
!rows = tensor<4x256x1024xbf16>
!send = tensor<4x256x4x128xbf16>
!places = tensor<4x4x128x1024xbf16>

// Backward the same twice; gradients of experts and of one-hot weights are local.
// CHECK-LABEL: @gradients_go_the_same_way
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = [
    "x=[t,-,-]", "y=[t,-,-]", "w1=[t,-,-]", "w2=[t,-,-]", "dy=[t,-,-]", "dx=[t,-,-]", "dw1=[t,-,-]",
    "dw2=[t,-,-]", "send=[t,-,-,-]", "back=[t,-,-,-]", "dsend=[t,-,-,-]", "dback=[t,-,-,-]"]} {
  func.func @gradients_go_the_same_way(
      %x: !rows {graph.name = "x"}, %send: !send {graph.name = "send"},
      %back: !send {graph.name = "back"}, %w1: !weights {graph.name = "w1"},
      %w2: !weights {graph.name = "w2"}, %dy: !rows {graph.name = "dy"})
      -> (!rows {graph.name = "y"}, !rows {graph.name = "dx"}, !weights {graph.name = "dw1"},
          !weights {graph.name = "dw2"}, !send {graph.name = "dsend"}, !send {graph.name = "dback"}) {
    // CHECK: all_to_all {{.*}} from "[-, 4@t:4, -, -]" to "[4@t:4, -, -, -]"
    // CHECK-SAME: shape [4, 4, 128, 1024] received 786432{{ }}
    // CHECK: all_to_all {{.*}} from "[4@t:4, -, -, -]" to "[-, 4@t:4, -, -]"
    // CHECK-SAME: shape [4, 4, 128, 1024] received 786432{{ }}
    // CHECK: all_to_all {{.*}} from "[-, 4@t:4, -, -]" to "[4@t:4, -, -, -]"
    // CHECK-SAME: shape [4, 4, 128, 1024] received 786432{{ }}
    // CHECK: all_to_all {{.*}} from "[4@t:4, -, -, -]" to "[-, 4@t:4, -, -]"
    // CHECK-SAME: shape [4, 4, 128, 1024] received 786432{{ }}
    %0 = graph.constant dense<1.000000e+00> : tensor<bf16>
    %e = graph.einsum "gsec,gsm->egcm" %send, %x : !send, !rows
    %1 = graph.einsum "egcm,emf->egcf" %e, %w1 : !places, !weights
    %a = graph.tanh %1 : !places
    %o = graph.einsum "egcf,efm->egcm" %a, %w2 : !places, !weights
    %y = graph.einsum "gsec,egcm->gsm" %back, %o : !send, !places
    %dback = graph.einsum "gsm,egcm->gsec" %dy, %o : !rows, !places
    %2 = graph.einsum "gsec,gsm->egcm" %back, %dy : !send, !rows
    %dw2 = graph.einsum "egcf,egcm->efm" %a, %2 : !places, !places
    %3 = graph.einsum "egcm,efm->egcf" %2, %w2 : !places, !weights
    %4 = graph.mul %a, %a : !places, !places
    %5 = graph.sub %0, %4 : tensor<bf16>, !places
    %6 = graph.mul %3, %5 : !places, !places
    %dw1 = graph.einsum "egcm,egcf->emf" %e, %6 : !places, !places
    %7 = graph.einsum "egcf,emf->egcm" %6, %w1 : !places, !weights
    %dx = graph.einsum "gsec,egcm->gsm" %send, %7 : !send, !places
    %dsend = graph.einsum "gsm,egcm->gsec" %x, %7 : !rows, !places
    return %y, %dx, %dw1, %dw2, %dsend, %dback : !rows, !rows, !weights, !weights, !send, !send
  }
}
