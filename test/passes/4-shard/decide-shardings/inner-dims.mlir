// RUN: pcc-opt --decide-shardings --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

// Two numbers per row cost less than moving rows of 1000.
// CHECK-LABEL: @statistics_are_cheaper
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]"]} {
  func.func @statistics_are_cheaper(%x: tensor<8x1000xf32> {graph.name = "x"})
      -> tensor<8x1000xf32> {
    // CHECK: graph.softmax {{.*}}shardings = ["[-, 1000@t:4]"]
    %y = graph.softmax %x over 1 : tensor<8x1000xf32>
    return %y : tensor<8x1000xf32>
  }
}

// -----

// Short rows are moved.
// CHECK-LABEL: @rows_are_cheaper
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]"]} {
  func.func @rows_are_cheaper(%x: tensor<8x8xf32> {graph.name = "x"}) -> tensor<8x8xf32> {
    // CHECK: graph.softmax {{.*}}shardings = ["[8@t:4, -]"]
    %y = graph.softmax %x over 1 : tensor<8x8xf32>
    return %y : tensor<8x8xf32>
  }
}

// -----

// Scale and bias follow the dims that are normalised, over which both axes reduce.
// CHECK-LABEL: @both_normalised_dims
module attributes {dist.mesh = #dist.mesh<d = 2, t = 4>,
                   dist.seeds = ["x=[-,d,t]", "y=[-,d,t]"]} {
  graph.parameter @s : tensor<16x128xf32>
  func.func @both_normalised_dims(%x: tensor<8x16x128xf32> {graph.name = "x"})
      -> (tensor<8x16x128xf32> {graph.name = "y"}) {
    // CHECK: graph.get_parameter @s {{.*}}shardings = ["[16@d:2, 128@t:4]"]
    %s = graph.get_parameter @s : tensor<16x128xf32>
    // CHECK: graph.rms_norm {{.*}}shardings = ["[-, 16@d:2, 128@t:4]"]
    %y = graph.rms_norm %x, %s from 1 epsilon 1.0e-5 : tensor<8x16x128xf32>, tensor<16x128xf32>
    return %y : tensor<8x16x128xf32>
  }
}

// -----

// Parts are runs: an axis does not take such a dim with strides, as it would here.
// CHECK-LABEL: @no_strides
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["h=[-,-,t]"]} {
  func.func @no_strides(%x: tensor<8x4x64xf32>) -> tensor<8x256xf32> {
    %h = graph.exp %x {graph.name = "h"} : tensor<8x4x64xf32>
    %z = graph.reshape %h : tensor<8x4x64xf32> to tensor<8x256xf32>
    // CHECK: graph.softmax {{.*}}shardings = ["[8@t:4, -]"]
    %y = graph.softmax %z over 1 : tensor<8x256xf32>
    return %y : tensor<8x256xf32>
  }
}

// -----

// A table that is read element by element may be split: what is read is a partial sum.
// CHECK-LABEL: @labels_of_a_split_vocabulary
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[-,t]"]} {
  func.func @labels_of_a_split_vocabulary(%x: tensor<8x1000xf32> {graph.name = "x"},
                                          %labels: tensor<8x1xi64>) -> tensor<8x1xf32> {
    // CHECK: graph.log_softmax {{.*}}shardings = ["[-, 1000@t:4]"]
    %p = graph.log_softmax %x over 1 : tensor<8x1000xf32>
    // CHECK: graph.gather_elements {{.*}}shardings = ["[-, -] partial sum(t:4)"]
    %y = graph.gather_elements %p, %labels along 1 : tensor<8x1000xf32>, tensor<8x1xi64>
    return %y : tensor<8x1xf32>
  }
}
