// RUN: pcc-opt %s --form-library-calls --split-input-file | FileCheck %s

// Steps that cuBLASLt computes along with products, where it differs from oneDNN.

// A gradient is added to the sum over microbatches where that lies.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @a_sum_over_microbatches
  func.func @a_sum_over_microbatches(%x: tensor<4x8xf32>, %y: tensor<4x6xf32>,
      %sum: tensor<8x6xf32> {pipe.held = {by = @a_sum_over_microbatches, result = 0 : i64}}) -> tensor<8x6xf32> {
    // CHECK-NEXT: %[[S:.*]] = rank.library_call(%arg0, %arg1, %arg2)
    // CHECK:        %[[P:.*]] = graph.matmul {{.*}} {transpose_lhs}
    // CHECK-NEXT:   graph.add %{{.*}}, %[[P]]
    // CHECK-NEXT:   rank.yield
    // CHECK:      return %[[S]]
    %0 = graph.matmul %x, %y {transpose_lhs} : tensor<4x8xf32>, tensor<4x6xf32>
    %1 = graph.add %sum, %0 : tensor<8x6xf32>, tensor<8x6xf32>
    return %1 : tensor<8x6xf32>
  }
}

// -----

// The sum is f32, whatever the factors are; an einsum of matrices is a product as well.
module attributes {dist.target = "cuda", pipe.recomputed_flops = array<i64: 0>} {
  // CHECK-LABEL: @a_sum_of_narrow_products
  func.func @a_sum_of_narrow_products(%x: tensor<4x8xbf16>, %y: tensor<4x6xbf16>,
      %sum: tensor<8x6xf32> {pipe.held = {by = @a_sum_of_narrow_products, result = 0 : i64}}) -> tensor<8x6xf32> {
    // CHECK-NEXT: %[[S:.*]] = rank.library_call(%arg0, %arg1, %arg2)
    // CHECK:        graph.matmul %{{.*}}, %{{.*}} {transpose_lhs} : tensor<4x8xbf16>, tensor<4x6xbf16>
    // CHECK-NEXT:   graph.cast
    // CHECK-NEXT:   graph.add
    // CHECK:      return %[[S]]
    %0 = graph.einsum "an,ak->kn" %y, %x : tensor<4x6xbf16>, tensor<4x8xbf16>
    %1 = graph.cast %0 : tensor<8x6xbf16> to tensor<8x6xf32>
    %2 = graph.add %1, %sum : tensor<8x6xf32>, tensor<8x6xf32>
    return %2 : tensor<8x6xf32>
  }
}

// -----

// The sum that is stored is another one than the one that is read: not the same bytes.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @a_sum_of_another_value
  func.func @a_sum_of_another_value(%x: tensor<4x8xf32>, %y: tensor<4x6xf32>,
      %sum: tensor<8x6xf32> {pipe.held = {by = @a_sum_of_another_value, result = 1 : i64}})
      -> (tensor<8x6xf32>, tensor<8x6xf32>) {
    // CHECK: rank.library_call(%arg0, %arg1, %arg2)
    // CHECK: %[[A:.*]] = graph.exp
    // CHECK: return %{{.*}}, %[[A]]
    %0 = graph.matmul %x, %y {transpose_lhs} : tensor<4x8xf32>, tensor<4x6xf32>
    %1 = graph.add %0, %sum : tensor<8x6xf32>, tensor<8x6xf32>
    %2 = graph.exp %sum : tensor<8x6xf32>
    return %1, %2 : tensor<8x6xf32>, tensor<8x6xf32>
  }
}

// -----

// With --reproducible a narrow product is rounded before it is added, wherever that happens.
module attributes {dist.target = "cuda", graph.reproducible} {
  // CHECK-LABEL: @reproducible_sums_are_kernels
  func.func @reproducible_sums_are_kernels(%x: tensor<4x8xf32>, %y: tensor<4x6xf32>,
      %sum: tensor<8x6xf32> {pipe.held = {by = @reproducible_sums_are_kernels, result = 0 : i64}}) -> tensor<8x6xf32> {
    // CHECK-NOT: rank.library_call
    %0 = graph.matmul %x, %y {transpose_lhs} : tensor<4x8xf32>, tensor<4x6xf32>
    %1 = graph.add %sum, %0 : tensor<8x6xf32>, tensor<8x6xf32>
    return %1 : tensor<8x6xf32>
  }
}

// -----

// oneDNN does not write where it reads.
// CHECK-LABEL: @a_sum_of_processors_is_a_kernel
func.func @a_sum_of_processors_is_a_kernel(%x: tensor<4x8xf32>, %y: tensor<4x6xf32>,
    %sum: tensor<8x6xf32> {pipe.held = {by = @a_sum_of_processors_is_a_kernel, result = 0 : i64}}) -> tensor<8x6xf32> {
  // CHECK-NOT: rank.library_call
  %0 = graph.matmul %x, %y {transpose_lhs} : tensor<4x8xf32>, tensor<4x6xf32>
  %1 = graph.add %sum, %0 : tensor<8x6xf32>, tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// -----

// A sum of one row has the shape of a bias, but the call would write where it reads the bias.
// CHECK-LABEL: @a_sum_of_one_row_is_no_bias
func.func @a_sum_of_one_row_is_no_bias(%x: tensor<4x1xf32>, %y: tensor<4x6xf32>,
    %sum: tensor<1x6xf32> {pipe.held = {by = @a_sum_of_one_row_is_no_bias, result = 0 : i64}}) -> tensor<1x6xf32> {
  // CHECK-NOT: rank.library_call
  // CHECK: graph.add
  %0 = graph.matmul %x, %y {transpose_lhs} : tensor<4x1xf32>, tensor<4x6xf32>
  %1 = graph.add %sum, %0 : tensor<1x6xf32>, tensor<1x6xf32>
  return %1 : tensor<1x6xf32>
}

// -----

// Only relu and gelu by tanh; a residual comes before them or not at all.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @activations_of_gpus
  func.func @activations_of_gpus(%x: tensor<4x8xf16>, %w: tensor<8x8xf16>) -> tensor<4x8xf16> {
    // CHECK:      graph.matmul
    // CHECK-NEXT: graph.relu
    // CHECK-NEXT: rank.yield
    // CHECK:      graph.add
    // CHECK:      graph.matmul
    // CHECK-NEXT: graph.gelu {{.*}}{tanh}
    // CHECK-NEXT: rank.yield
    // CHECK:      graph.matmul
    // CHECK-NEXT: graph.gelu
    // CHECK:      graph.matmul
    // CHECK-NEXT: graph.sigmoid
    %0 = graph.matmul %x, %w : tensor<4x8xf16>, tensor<8x8xf16>
    %1 = graph.relu %0 : tensor<4x8xf16>
    %2 = graph.add %1, %x : tensor<4x8xf16>, tensor<4x8xf16>
    %3 = graph.matmul %2, %w : tensor<4x8xf16>, tensor<8x8xf16>
    %4 = graph.gelu %3 {tanh} : tensor<4x8xf16>
    %5 = graph.matmul %4, %w : tensor<4x8xf16>, tensor<8x8xf16>
    %6 = graph.gelu %5 : tensor<4x8xf16>
    %7 = graph.matmul %6, %w : tensor<4x8xf16>, tensor<8x8xf16>
    %8 = graph.sigmoid %7 : tensor<4x8xf16>
    return %8 : tensor<4x8xf16>
  }
}

// -----

// The gradient of a bias sums the rows that the gradient of its weight contracts; of a sum over microbatches it is in f32 as well.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @a_bias_beside_its_weight
  func.func @a_bias_beside_its_weight(%x: tensor<2x4x8xbf16>, %y: tensor<2x4x6xbf16>, %db: tensor<6xf32>,
      %dw: tensor<8x6xf32> {pipe.held = {by = @a_bias_beside_its_weight, result = 0 : i64}}) -> (tensor<8x6xf32>, tensor<6xf32>) {
    // CHECK:      %[[S:.*]]:2 = rank.library_call({{.*}}) : ({{.*}}) -> (tensor<8x6xf32>, tensor<6xf32>)
    // CHECK:        %[[R:.*]] = graph.reduce sum %[[Y:.*]] over [0] : tensor<8x6xbf16>
    // CHECK-NEXT:   %[[B:.*]] = graph.cast %[[R]]
    // CHECK-NEXT:   graph.matmul %{{.*}}, %[[Y]] {transpose_lhs}
    // CHECK:        rank.yield %{{.*}}, %[[B]]
    // CHECK:      %[[F:.*]] = graph.reshape %[[S]]#1
    // CHECK-NEXT: %[[D:.*]] = graph.add %{{.*}}, %[[F]]
    // CHECK-NEXT: return %[[S]]#0, %[[D]]
    %0 = graph.reduce sum %y over [0, 1] keep : tensor<2x4x6xbf16>
    %1 = graph.reshape %0 : tensor<1x1x6xbf16> to tensor<6xbf16>
    %2 = graph.cast %1 : tensor<6xbf16> to tensor<6xf32>
    %3 = graph.add %db, %2 : tensor<6xf32>, tensor<6xf32>
    %4 = graph.einsum "abk,abn->kn" %x, %y : tensor<2x4x8xbf16>, tensor<2x4x6xbf16>
    %5 = graph.cast %4 : tensor<8x6xbf16> to tensor<8x6xf32>
    %6 = graph.add %dw, %5 : tensor<8x6xf32>, tensor<8x6xf32>
    return %6, %3 : tensor<8x6xf32>, tensor<6xf32>
  }
}

// -----

// Sums that the product itself needs come before it, and processors' libraries make none.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @sums_that_stay
  func.func @sums_that_stay(%x: tensor<4x8xf32>, %y: tensor<4x6xf32>) -> tensor<8x6xf32> {
    // CHECK-NEXT: graph.reduce
    // CHECK-NEXT: graph.mul
    // CHECK-NEXT: graph.matmul
    %0 = graph.reduce sum %y over [0] keep : tensor<4x6xf32>
    %1 = graph.mul %y, %0 : tensor<4x6xf32>, tensor<1x6xf32>
    %2 = graph.matmul %x, %y {transpose_lhs} : tensor<4x8xf32>, tensor<4x6xf32>
    %3 = graph.matmul %x, %1 {transpose_lhs} : tensor<4x8xf32>, tensor<4x6xf32>
    %4 = graph.add %2, %3 : tensor<8x6xf32>, tensor<8x6xf32>
    return %4 : tensor<8x6xf32>
  }
}
