// RUN: pcc-opt %s --form-library-calls --split-input-file | FileCheck %s

// CHECK-LABEL: @a_bias_and_an_activation
func.func @a_bias_and_an_activation(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: %[[Y:.*]] = rank.library_call(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4x8xf32>,
  // CHECK-SAME:   tensor<8x6xf32>, tensor<6xf32>)
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x6xf32>, %[[B:.*]]: tensor<6xf32>):
  // CHECK-NEXT:   %[[M:.*]] = graph.matmul %[[X]], %[[W]]
  // CHECK-NEXT:   %[[S:.*]] = graph.add %[[B]], %[[M]]
  // CHECK-NEXT:   %[[G:.*]] = graph.gelu %[[S]]
  // CHECK-NEXT:   rank.yield %[[G]]
  // CHECK:      return %[[Y]]
  %0 = graph.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32>
  %1 = graph.add %b, %0 : tensor<6xf32>, tensor<4x6xf32>
  %2 = graph.gelu %1 : tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

// A product adds what runs past it last; the sum of two products is one product and its residual.
// CHECK-LABEL: @a_residual_is_added_last
func.func @a_residual_is_added_last(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK: %[[M:.*]] = graph.matmul %arg0, %arg1
  // CHECK: rank.library_call(%arg0, %arg1, %[[M]])
  // CHECK:   graph.matmul
  // CHECK:   graph.relu
  // CHECK:   graph.add
  // CHECK-NOT: graph
  %0 = graph.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = graph.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %2 = graph.relu %0 : tensor<4x8xf32>
  %3 = graph.add %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// A product cannot add a residual before its activation.
// CHECK-LABEL: @an_activation_of_a_residual_stays
func.func @an_activation_of_a_residual_stays(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK: rank.library_call
  // CHECK: graph.add
  // CHECK: rank.yield
  // CHECK: graph.relu
  %0 = graph.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = graph.add %0, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %2 = graph.relu %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// The bias of a convolution runs along its channels.
// CHECK-LABEL: @a_convolution_and_its_bias
func.func @a_convolution_and_its_bias(%x: tensor<1x2x5x5xf32>, %w: tensor<2x2x1x1xf32>, %b: tensor<1x2x1x1xf32>)
    -> tensor<1x2x5x5xf32> {
  // CHECK-NEXT: %[[Y:.*]] = rank.library_call(%arg0, %arg1, %arg2)
  // CHECK:   graph.relu
  // CHECK-NEXT: rank.yield
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[Y]]
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>
  %1 = graph.add %0, %b : tensor<1x2x5x5xf32>, tensor<1x2x1x1xf32>
  %2 = graph.relu %1 : tensor<1x2x5x5xf32>
  return %2 : tensor<1x2x5x5xf32>
}

// -----

// The kernel that adds a residual costs less than its reorder.
// CHECK-LABEL: @a_sum_of_branches_stays
func.func @a_sum_of_branches_stays(%x: tensor<1x2x5x5xf32>, %w: tensor<2x2x1x1xf32>) -> tensor<1x2x5x5xf32> {
  // CHECK-NEXT: graph.conv
  // CHECK-NEXT: graph.add
  // CHECK-NEXT: graph.relu
  %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
      : tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>
  %1 = graph.add %0, %x : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>
  %2 = graph.relu %1 : tensor<1x2x5x5xf32>
  return %2 : tensor<1x2x5x5xf32>
}

// -----

// A value along another dim than the channels is no bias.
// CHECK-LABEL: @a_bias_runs_along_channels
func.func @a_bias_runs_along_channels(%x: tensor<1x2x2xf32>, %w: tensor<2x2x1xf32>, %b: tensor<1x1x2xf32>)
    -> tensor<1x2x2xf32> {
  // CHECK-NOT: rank.library_call
  %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>}
      : tensor<1x2x2xf32>, tensor<2x2x1xf32>
  %1 = graph.add %0, %b : tensor<1x2x2xf32>, tensor<1x1x2xf32>
  return %1 : tensor<1x2x2xf32>
}

// -----

// Another reader of a value needs it stored.
// CHECK-LABEL: @a_second_reader_ends_the_call
func.func @a_second_reader_ends_the_call(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>)
    -> (tensor<4x6xf32>, tensor<4x6xf32>) {
  // CHECK: %[[Y:.*]] = rank.library_call
  // CHECK: graph.add
  // CHECK: %[[R:.*]] = graph.relu %[[Y]]
  // CHECK: return %[[Y]], %[[R]]
  %0 = graph.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32>
  %1 = graph.add %0, %b : tensor<4x6xf32>, tensor<6xf32>
  %2 = graph.relu %1 : tensor<4x6xf32>
  return %1, %2 : tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// x · sigmoid(x) is one activation although it reads x twice.
// CHECK-LABEL: @silu
func.func @silu(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  // CHECK-NEXT: %[[Y:.*]] = rank.library_call
  // CHECK: graph.sigmoid
  // CHECK: graph.mul
  // CHECK: return %[[Y]]
  %0 = graph.matmul %x, %w : tensor<4x8xf32>, tensor<8x6xf32>
  %1 = graph.sigmoid %0 : tensor<4x6xf32>
  %2 = graph.mul %0, %1 : tensor<4x6xf32>, tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

// A model that wrote gelu's slope in f32 means gelu; another slope is another function.
// CHECK-LABEL: @only_standard_gelus
func.func @only_standard_gelus(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // CHECK: graph.gelu {{.*}}slope = 0.7071067
  // CHECK: rank.yield
  // CHECK: graph.matmul
  // CHECK: graph.gelu {{.*}}slope = 1.702
  %0 = graph.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = graph.gelu %0 {slope = 0.70710679328816484 : f64} : tensor<4x8xf32>
  %2 = graph.matmul %1, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %3 = graph.gelu %2 {slope = 1.702 : f64} : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// Products read and write heads where they are: no copy between the projections.
// CHECK-LABEL: @heads_are_not_copied
func.func @heads_are_not_copied(%x: tensor<5x8xf32>, %w: tensor<8x24xf32>, %o: tensor<8x8xf32>) -> tensor<5x8xf32> {
  // CHECK-NEXT: %[[P:.*]] = graph.matmul %arg0, %arg1
  // CHECK-NEXT: %[[S:.*]] = rank.library_call(%[[P]]) : (tensor<5x24xf32>) -> tensor<2x5x5xf32>
  // CHECK-COUNT-6: graph.{{slice|reshape|transpose}}
  // CHECK-NEXT:   graph.matmul {{.*}} {transpose_rhs}
  // CHECK:      %[[W:.*]] = graph.softmax %[[S]]
  // CHECK-NEXT: %[[Y:.*]] = rank.library_call(%[[P]], %[[W]]) : (tensor<5x24xf32>,
  // CHECK-SAME:   tensor<2x5x5xf32>) -> tensor<5x2x4xf32>
  // CHECK:        graph.matmul
  // CHECK-NEXT:   graph.transpose
  // CHECK:      %[[F:.*]] = graph.reshape %[[Y]]
  // CHECK-NEXT: graph.matmul %[[F]]
  %p = graph.matmul %x, %w : tensor<5x8xf32>, tensor<8x24xf32>
  %q0 = graph.slice %p starts [0, 0] sizes [5, 8] steps [1, 1] : tensor<5x24xf32>
  %k0 = graph.slice %p starts [0, 8] sizes [5, 8] steps [1, 1] : tensor<5x24xf32>
  %v0 = graph.slice %p starts [0, 16] sizes [5, 8] steps [1, 1] : tensor<5x24xf32>
  %q1 = graph.reshape %q0 : tensor<5x8xf32> to tensor<5x2x4xf32>
  %k1 = graph.reshape %k0 : tensor<5x8xf32> to tensor<5x2x4xf32>
  %v1 = graph.reshape %v0 : tensor<5x8xf32> to tensor<5x2x4xf32>
  %q = graph.transpose %q1 [1, 0, 2] : tensor<5x2x4xf32>
  %k = graph.transpose %k1 [1, 0, 2] : tensor<5x2x4xf32>
  %v = graph.transpose %v1 [1, 0, 2] : tensor<5x2x4xf32>
  %s = graph.matmul %q, %k {transpose_rhs} : tensor<2x5x4xf32>, tensor<2x5x4xf32>
  %a = graph.softmax %s over 2 : tensor<2x5x5xf32>
  %c = graph.matmul %a, %v : tensor<2x5x5xf32>, tensor<2x5x4xf32>
  %t = graph.transpose %c [1, 0, 2] : tensor<2x5x4xf32>
  %f = graph.reshape %t : tensor<5x2x4xf32> to tensor<5x8xf32>
  %y = graph.matmul %f, %o : tensor<5x8xf32>, tensor<8x8xf32>
  return %y : tensor<5x8xf32>
}

// -----

// A kernel reads and writes in any order for nothing, and no library has elements apart in both dims.
// CHECK-LABEL: @orders_that_stay
func.func @orders_that_stay(%x: tensor<8x4xf32>, %w: tensor<8x6xf32>) -> tensor<6x4xf32> {
  // CHECK-NOT: rank.library_call
  %0 = graph.exp %x : tensor<8x4xf32>
  %1 = graph.transpose %0 [1, 0] : tensor<8x4xf32>
  %2 = graph.slice %w starts [0, 0] sizes [8, 3] steps [1, 2] : tensor<8x6xf32>
  %3 = graph.matmul %1, %2 : tensor<4x8xf32>, tensor<8x3xf32>
  %4 = graph.concat %3, %3 along 1 : tensor<4x3xf32>, tensor<4x3xf32>
  %5 = graph.transpose %4 [1, 0] : tensor<4x6xf32>
  return %5 : tensor<6x4xf32>
}

// -----

// Attention is two products with a softmax between.
// CHECK-LABEL: @attention_is_two_products
func.func @attention_is_two_products(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x5x8xf32>) -> tensor<1x4x5x8xf32> {
  // CHECK: %[[S:.*]] = graph.matmul {{.*}}transpose_rhs
  // CHECK: graph.softmax
  // CHECK: graph.matmul
  %0 = graph.attention %q, %k, %k {scale = 0.5 : f64, causal} : tensor<1x4x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>
  return %0 : tensor<1x4x5x8xf32>
}

// -----

// A GPU has a kernel for it, where a row fits into registers.
// CHECK-LABEL: @attention_of_gpus
module @attention_of_gpus attributes {dist.target = "cuda"} {
func.func @main(%q: tensor<1x4x5x8xf32>, %r: tensor<1x4x5x129xf32>, %s: tensor<1x4x5x8xf64>) -> (tensor<1x4x5x8xf32>, tensor<1x4x5x129xf32>, tensor<1x4x5x8xf64>) {
  // CHECK-COUNT-1: graph.attention
  // CHECK-NOT: graph.attention
  %0 = graph.attention %q, %q, %q {scale = 0.5 : f64} : tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>, tensor<1x4x5x8xf32>
  %1 = graph.attention %r, %r, %r {scale = 0.5 : f64} : tensor<1x4x5x129xf32>, tensor<1x4x5x129xf32>, tensor<1x4x5x129xf32>
  %2 = graph.attention %s, %s, %s {scale = 0.5 : f64} : tensor<1x4x5x8xf64>, tensor<1x4x5x8xf64>, tensor<1x4x5x8xf64>
  return %0, %1, %2 : tensor<1x4x5x8xf32>, tensor<1x4x5x129xf32>, tensor<1x4x5x8xf64>
}
}
