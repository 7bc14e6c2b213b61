// RUN: pcc-opt %s --lower-for-gpus --split-input-file | FileCheck %s

// CHECK-LABEL: @processors_have_libraries
func.func @processors_have_libraries(%x: tensor<9xf32>) -> tensor<9xf32> {
  // CHECK-NEXT: graph.cumsum
  %0 = graph.cumsum %x along 0 : tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

// Rows of a product are filters, its columns what a window sees at each place.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @a_convolution_is_a_product
  func.func @a_convolution_is_a_product(%x: tensor<1x3x9x9xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32> {
    // CHECK:      %[[WIDE:.*]] = graph.gather %arg0, %{{.*}} along 3 : tensor<1x3x9x9xf32>, tensor<3x4xi64>
    // CHECK:      %[[BOTH:.*]] = graph.gather %[[WIDE]], %{{.*}} along 2
    // CHECK-NEXT: %[[TAPS:.*]] = graph.transpose %[[BOTH]] [0, 1, 2, 4, 3, 5]
    // CHECK-NEXT: %[[COLUMNS:.*]] = graph.reshape %[[TAPS]] {{.*}} to tensor<1x27x16xf32>
    // CHECK-NEXT: graph.matmul %{{.*}}, %[[COLUMNS]] : tensor<4x27xf32>, tensor<1x27x16xf32>
    // CHECK-NOT:  graph.conv
    %0 = graph.conv %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
        : tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>
    return %0 : tensor<1x4x4x4xf32>
  }
}

// -----

module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @groups_of_one_tap_multiply_the_image_itself
  func.func @groups_of_one_tap_multiply_the_image_itself(%x: tensor<2x4x12x12xf32>, %w: tensor<6x2x1x1xf32>)
      -> tensor<2x6x12x12xf32> {
    // CHECK:      %[[IMAGE:.*]] = graph.reshape %arg0 : {{.*}} to tensor<2x2x2x144xf32>
    // CHECK-NEXT: graph.matmul %{{.*}}, %[[IMAGE]] : tensor<2x3x2xf32>, tensor<2x2x2x144xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>,
                            group = 2 : i64} : tensor<2x4x12x12xf32>, tensor<6x2x1x1xf32>
    return %0 : tensor<2x6x12x12xf32>
  }
}

// -----

// Each of many images has few places: those of all are columns of one product.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @small_images_share_a_product
  func.func @small_images_share_a_product(%x: tensor<8x3x4x4xf32>, %w: tensor<5x3x1x1xf32>) -> tensor<8x5x4x4xf32> {
    // CHECK: graph.transpose %{{.*}} [1, 0, 2] : tensor<8x3x16xf32>
    // CHECK: graph.matmul %{{.*}} : tensor<5x3xf32>, tensor<3x128xf32>
    // CHECK: graph.transpose %{{.*}} [1, 0, 2] : tensor<5x8x16xf32>
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>}
        : tensor<8x3x4x4xf32>, tensor<5x3x1x1xf32>
    return %0 : tensor<8x5x4x4xf32>
  }
}

// -----

module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @filters_of_one_channel_are_summed_in_f32
  func.func @filters_of_one_channel_are_summed_in_f32(%x: tensor<1x4x12xbf16>, %w: tensor<4x1x3xbf16>)
      -> tensor<1x4x10xbf16> {
    // CHECK:      %[[TERMS:.*]] = graph.mul %{{.*}} : tensor<1x4x3x10xf32>, tensor<4x3x1xf32>
    // CHECK-NEXT: %[[SUM:.*]] = graph.reduce sum %[[TERMS]] over [2]
    // CHECK-NEXT: graph.cast %[[SUM]] : tensor<1x4x10xf32> to tensor<1x4x10xbf16>
    %0 = graph.conv %x, %w {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>,
                            group = 4 : i64} : tensor<1x4x12xbf16>, tensor<4x1x3xbf16>
    return %0 : tensor<1x4x10xbf16>
  }
}

// -----

// Elements outside of the image are never the maximum.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @a_pool_reduces_windows
  func.func @a_pool_reduces_windows(%x: tensor<1x2x8xf32>) -> tensor<1x2x4xf32> {
    // CHECK:      %[[LEAST:.*]] = graph.constant dense<0xFF800000>
    // CHECK-NEXT: graph.pad constant %arg0 with %[[LEAST]]
    // CHECK:      graph.reduce max %{{.*}} over [2] : tensor<1x2x3x4xf32>
    %0 = graph.pool max %x {window = array<i64: 3>, strides = array<i64: 2>, pads = array<i64: 1, 0>,
                            dilations = array<i64: 1>} : tensor<1x2x8xf32>
    return %0 : tensor<1x2x4xf32>
  }
}

// -----

// New ops carry the attributes of the op.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @a_rank_counts_what_comes_before
  func.func @a_rank_counts_what_comes_before(%x: tensor<4x9xi32>) -> (tensor<4x3xi32>, tensor<4x3xi64>) {
    // CHECK: %[[RANKS:.*]] = graph.reduce sum %{{.*}} over [2] {pipe.stage = 1 : i64} : tensor<4x9x9xi64>
    // CHECK: graph.reduce sum %{{.*}} over [2] {pipe.stage = 1 : i64} : tensor<4x3x9xi64>
    // CHECK: graph.gather_elements
    %0:2 = graph.topk %x, 3 along 1 {pipe.stage = 1 : i64} : tensor<4x9xi32>
    return %0#0, %0#1 : tensor<4x3xi32>, tensor<4x3xi64>
  }
}

// -----

module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @long_sums_are_cut_into_blocks
  func.func @long_sums_are_cut_into_blocks(%x: tensor<1000xi64>) -> tensor<1000xi64> {
    // CHECK: graph.reduce sum %{{.*}} over [1] : tensor<32x32x1xi64>
    // CHECK: graph.reduce sum %{{.*}} over [2] : tensor<1x32x32xi64>
    // CHECK: graph.reduce sum %{{.*}} over [2] : tensor<32x32x32xi64>
    // CHECK: graph.add
    %0 = graph.cumsum %x along 0 : tensor<1000xi64>
    return %0 : tensor<1000xi64>
  }
}

// -----

// Each of many rows keeps only its last update, after updates of one row were sorted together.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @a_row_takes_its_last_update
  func.func @a_row_takes_its_last_update(%d: tensor<50x8xf32>, %i: tensor<3x1xi64>, %u: tensor<3x8xf32>)
      -> tensor<50x8xf32> {
    // CHECK:     %[[SUMS:.*]] = graph.reduce sum %{{.*}} over [1] : tensor<1x3x3x8xf32>
    // CHECK:     graph.reduce max %{{.*}} over [2] : tensor<1x50x3xi64>
    // CHECK:     graph.gather_elements %[[SUMS]]
    // CHECK-NOT: graph.scatter_nd
    %0 = graph.scatter_nd add %d, %i, %u : tensor<50x8xf32>, tensor<3x1xi64>, tensor<3x8xf32>
    return %0 : tensor<50x8xf32>
  }
}

// -----

module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @few_rows_look_at_all_updates
  func.func @few_rows_look_at_all_updates(%d: tensor<2xf32>, %i: tensor<9xi64>, %u: tensor<9xf32>) -> tensor<2xf32> {
    // CHECK: %[[ALL:.*]] = graph.reduce sum %{{.*}} over [2] : tensor<1x2x9xf32>
    // CHECK: graph.add
    %0 = graph.scatter_elements add %d, %i, %u along 0 : tensor<2xf32>, tensor<9xi64>, tensor<9xf32>
    return %0 : tensor<2xf32>
  }
}

// -----

// An expert's rows fill tiles of their own: 8 experts have at most 20 tiles of 128 rows.
module attributes {dist.target = "cuda"} {
  // CHECK-LABEL: @tiles_have_one_expert
  func.func @tiles_have_one_expert(%x: tensor<1600x6xf32>, %w: tensor<8x6x7xf32>, %c: tensor<8xi64>)
      -> tensor<1600x7xf32> {
    // CHECK: %[[ROWS:.*]] = graph.gather %arg0, %{{.*}} along 0 : tensor<1600x6xf32>, tensor<20x128xi64>
    // CHECK: %[[MATRICES:.*]] = graph.gather %arg1, %{{.*}} along 0 : tensor<8x6x7xf32>, tensor<20xi64>
    // CHECK: graph.matmul %[[ROWS]], %[[MATRICES]]
    %0 = graph.grouped_matmul %x, %w by %c : tensor<1600x6xf32>, tensor<8x6x7xf32>, tensor<8xi64>
    return %0 : tensor<1600x7xf32>
  }
}
