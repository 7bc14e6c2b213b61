// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

!x = tensor<8x64xf32>

// Two products are added as partial sums and reduced once.
// CHECK-LABEL: @one_reduction_for_two_addends
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["a=[-,tp]", "b=[-,tp]"]} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @one_reduction_for_two_addends(%a: !x {graph.name = "a"}, %b: !x {graph.name = "b"})
      -> !x {
    // CHECK: graph.get_parameter @w {{.*}}shardings = ["[64@tp:2, -]"]
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -] partial sum(tp:2)"]
    %0 = graph.matmul %a, %w : !x, tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -] partial sum(tp:2)"]
    %1 = graph.matmul %b, %w : !x, tensor<64x64xf32>
    // CHECK: graph.add {{.*}}shardings = ["[-, -] partial sum(tp:2)"]
    %2 = graph.add %0, %1 : !x, !x
    // CHECK: dist.reshard {{.*}} from "[-, -] partial sum(tp:2)" to "[8@tp:2, -]"
    // CHECK: graph.softmax {{.*}}shardings = ["[8@tp:2, -]"]
    %3 = graph.softmax %2 over 1 : !x
    return %3 : !x
  }
}

// -----

!x = tensor<8x64xf32>
!t = tensor<64x8xf32>

// A partial sum passes a transposition and a scaling: what is reduced is the same size or smaller.
// CHECK-LABEL: @partial_sum_passes_layout_ops
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["a=[-,tp]"]} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @partial_sum_passes_layout_ops(%a: !x {graph.name = "a"}) -> tensor<8xf32> {
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -] partial sum(tp:2)"]
    %0 = graph.matmul %a, %w : !x, tensor<64x64xf32>
    // CHECK: graph.transpose {{.*}}shardings = ["[-, -] partial sum(tp:2)"]
    %1 = graph.transpose %0 [1, 0] : !x
    // CHECK: graph.reduce {{.*}}shardings = ["[-] partial sum(tp:2)"]
    %2 = graph.reduce sum %1 over [0] : !t
    // CHECK: dist.reshard {{.*}} from "[-] partial sum(tp:2)" to "[8@tp:2]"
    return %2 : tensor<8xf32>
  }
}

// -----

// A sum over ranks is complete before it is rounded, although fewer bytes would be reduced after the cast.
// CHECK-LABEL: @casts
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["a=[-,tp]", "w=[tp,-]"]} {
  graph.parameter @w : tensor<64x64xbf16>
  func.func @casts(%a: tensor<8x64xbf16> {graph.name = "a"}) -> tensor<8x64xbf16> {
    %w = graph.get_parameter @w : tensor<64x64xbf16>
    %0 = graph.cast %a : tensor<8x64xbf16> to tensor<8x64xf32>
    %1 = graph.cast %w : tensor<64x64xbf16> to tensor<64x64xf32>
    // CHECK: %[[SUM:.*]] = graph.matmul {{.*}}shardings = ["[-, -] partial sum(tp:2)"]
    %2 = graph.matmul %0, %1 : tensor<8x64xf32>, tensor<64x64xf32>
    // CHECK: dist.reshard %[[SUM]] from "[-, -] partial sum(tp:2)"
    // CHECK: graph.cast {{.*}} : tensor<8x64xf32> to tensor<8x64xbf16>
    %3 = graph.cast %2 : tensor<8x64xf32> to tensor<8x64xbf16>
    return %3 : tensor<8x64xbf16>
  }
}

// -----

!x = tensor<8x64xf32>

// A sum does not pass an op that is not linear: it is reduced before.
// CHECK-LABEL: @relu_needs_the_sum
module attributes {dist.mesh = #dist.mesh<tp = 2>, dist.seeds = ["a=[-,tp]", "w=[tp,-]"]} {
  graph.parameter @w : tensor<64x64xf32>
  func.func @relu_needs_the_sum(%a: !x {graph.name = "a"}) -> !x {
    %w = graph.get_parameter @w : tensor<64x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -] partial sum(tp:2)"]
    %0 = graph.matmul %a, %w : !x, tensor<64x64xf32>
    // CHECK: dist.reshard {{.*}} from "[-, -] partial sum(tp:2)" to "[8@tp:2, -]"
    // CHECK: graph.relu {{.*}}shardings = ["[8@tp:2, -]"]
    %1 = graph.relu %0 : !x
    return %1 : !x
  }
}
