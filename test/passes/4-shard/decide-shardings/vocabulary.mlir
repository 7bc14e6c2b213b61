// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s \
// RUN:   | %python %source/test/inline-aliases.py | FileCheck %s

// The head is split over the vocabulary, and stays so: outputs may be split.
// CHECK-LABEL: @vocabulary_parallel_head
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  graph.parameter @head : tensor<64x1000xf32>
  func.func @vocabulary_parallel_head(%x: tensor<8x64xf32> {graph.batch_dim = 0 : i64})
      -> tensor<8x1000xf32> {
    // CHECK: graph.get_parameter @head {{.*}}shardings = ["[-, 1000@tp:2]"]
    %w = graph.get_parameter @head : tensor<64x1000xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, 1000@tp:2]"]
    %y = graph.matmul %x, %w : tensor<8x64xf32>, tensor<64x1000xf32>
    return %y : tensor<8x1000xf32>
  }
}

// -----

// An embedding that is the head as well is stored split.
// CHECK-LABEL: @tied_embedding
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  graph.parameter @table : tensor<1000x64xf32>
  func.func @tied_embedding(%ids: tensor<8x4xi64> {graph.batch_dim = 0 : i64})
      -> tensor<8x4x1000xf32> {
    // CHECK: graph.get_parameter @table {{.*}}shardings = ["[1000@tp:2, -]"]
    %w = graph.get_parameter @table : tensor<1000x64xf32>
    // CHECK: graph.gather {{.*}}shardings = ["[-, -, -] partial sum(tp:2)"]
    %h = graph.gather %w, %ids along 0 : tensor<1000x64xf32>, tensor<8x4xi64>
    %s = graph.softmax %h over 2 : tensor<8x4x64xf32>
    // CHECK: graph.matmul {{.*}}shardings = ["[-, -, 1000@tp:2]"]
    %y = graph.matmul %s, %w {transpose_rhs} : tensor<8x4x64xf32>, tensor<1000x64xf32>
    return %y : tensor<8x4x1000xf32>
  }
}
