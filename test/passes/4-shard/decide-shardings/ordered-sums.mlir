// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

!x = tensor<24x4xf32>
!y = tensor<24x6xf32>

// Two microbatches of four blocks of three samples: a product per sample forward, one per block for the gradient, and two levels
// of a tree, of which the last goes over ranks. The sum over ranks ends before microbatches accumulate.
// CHECK-LABEL: @gradient_of_a_weight
module attributes {dist.mesh = #dist.mesh<mb = 2, dp = 2>, graph.reproducible} {
  graph.parameter @w : tensor<4x6xf32> trained
  func.func @gradient_of_a_weight(%x: !x {graph.name = "x", graph.batch_dim = 0 : i64}) {
    %w = graph.get_parameter @w : tensor<4x6xf32>
    %seed = graph.loss_gradient : tensor<f32>
    // CHECK: graph.matmul {{.*}}shardings = ["[24@mb:2+dp:2, -, -]"]{{.*}} : tensor<24x1x4xf32>, tensor<4x6xf32>
    %y = graph.matmul %x, %w : !x, tensor<4x6xf32>
    %dy = graph.mul %y, %seed : !y, tensor<f32>
    // CHECK: graph.einsum "ABC,ABD->ACD" {{.*}}shardings = ["[8@mb:2+dp:2, -, -]"]{{.*}} :
    // CHECK-SAME:   tensor<8x3x4xf32>, tensor<8x3x6xf32>
    // CHECK: graph.reduce sum {{.*}} over [2] {{.*}}shardings = ["[2@mb:2, 2@dp:2, -, -]"]
    // CHECK-SAME:   : tensor<2x2x2x4x6xf32>
    // CHECK: graph.reduce sum {{.*}} over [1] {{.*}}shardings =
    // CHECK-SAME:   ["[2@mb:2, -, -] partial sum(dp:2)"]{{.*}} : tensor<2x2x4x6xf32>
    // CHECK: dist.reshard {{.*}} from "[2@mb:2, -, -] partial sum(dp:2)" to "[2@mb:2, -, -]"
    // CHECK: graph.reduce sum {{.*}} over [0] {{.*}}shardings = ["[-, -] partial sum(mb:2)"]{{.*}} : tensor<2x4x6xf32>
    // CHECK: graph.accumulate {{.*}}shardings = ["[-, -]"]
    // CHECK-NOT: dist.ordered
    %g = graph.einsum "bm,bn->mn" %x, %dy : !x, !y
    %a = graph.accumulate %g : tensor<4x6xf32>
    graph.set_parameter @w, %a : tensor<4x6xf32>
    return
  }
}

// -----

!ids = tensor<8x1xi64>
!rows = tensor<8x4xf32>

// The sum in a lookup's gradient has no tree: all ranks get all rows and add them in one order.
// CHECK-LABEL: @gradient_of_a_table
module attributes {dist.mesh = #dist.mesh<dp = 2>, graph.reproducible} {
  graph.parameter @t : tensor<16x4xf32> trained
  func.func @gradient_of_a_table(%ids: !ids {graph.name = "ids", graph.batch_dim = 0 : i64},
                                 %rows: !rows {graph.name = "rows", graph.batch_dim = 0 : i64}) {
    %seed = graph.loss_gradient : tensor<f32>
    %zeros = graph.constant dense<0.0> : tensor<16x4xf32>
    // CHECK: graph.mul {{.*}}shardings = ["[8@dp:2, -]"]
    %update = graph.mul %rows, %seed : !rows, tensor<f32>
    // CHECK: graph.scatter_nd add
    // CHECK-NOT: partial
    %g = graph.scatter_nd add %zeros, %ids, %update : tensor<16x4xf32>, !ids, !rows
    %a = graph.accumulate %g : tensor<16x4xf32>
    graph.set_parameter @t, %a : tensor<16x4xf32>
    return
  }
}

// -----

// Ranks split the major level of the tree of eight samples, and no other.
// CHECK-LABEL: @major_levels
module attributes {dist.mesh = #dist.mesh<dp = 2>, graph.reproducible} {
  graph.parameter @w : tensor<4x6xf32> trained
  func.func @major_levels(%x: tensor<8x4xf32> {graph.name = "x", graph.batch_dim = 0 : i64},
                          %y: tensor<8x6xf32> {graph.name = "y", graph.batch_dim = 0 : i64}) {
    %seed = graph.loss_gradient : tensor<f32>
    %dy = graph.mul %y, %seed : tensor<8x6xf32>, tensor<f32>
    // CHECK: graph.einsum {{.*}}shardings = ["[8@dp:2, -, -]"]
    // CHECK: graph.reduce sum {{.*}} over [3]
    // CHECK: graph.reduce sum {{.*}} over [2] {{.*}}shardings = ["[-, 2@dp:2, -, -]"]
    // CHECK: graph.reduce sum {{.*}} over [1] {{.*}}shardings = ["[-, -, -] partial sum(dp:2)"]
    %g = graph.einsum "bm,bn->mn" %x, %dy : tensor<8x4xf32>, tensor<8x6xf32>
    %a = graph.accumulate %g : tensor<4x6xf32>
    graph.set_parameter @w, %a : tensor<4x6xf32>
    return
  }
}

// -----

// All ranks of an axis split the batch, although each level of the tree has room for two of them only.
// CHECK-LABEL: @all_levels
// CHECK-SAME: tensor<8x4xf32> {{{.*}}"[8@dp:8, -]"
module attributes {dist.mesh = #dist.mesh<dp = 8>, graph.reproducible} {
  graph.parameter @w : tensor<4x6xf32> trained
  func.func @all_levels(%x: tensor<8x4xf32> {graph.name = "x", graph.batch_dim = 0 : i64},
                        %y: tensor<8x6xf32> {graph.name = "y", graph.batch_dim = 0 : i64}) {
    %seed = graph.loss_gradient : tensor<f32>
    // CHECK: graph.mul {{.*}}shardings = ["[8@dp:8, -]"]
    %dy = graph.mul %y, %seed : tensor<8x6xf32>, tensor<f32>
    // CHECK: graph.einsum {{.*}}shardings = ["[8@dp:8, -, -]"]
    %g = graph.einsum "bm,bn->mn" %x, %dy : tensor<8x4xf32>, tensor<8x6xf32>
    %a = graph.accumulate %g : tensor<4x6xf32>
    graph.set_parameter @w, %a : tensor<4x6xf32>
    return
  }
}
