// RUN: pcc-opt --decide-shardings --expand-split-ops --insert-reshards --verify-sharded --localize-shapes \
// RUN:     --reshard-to-collectives --verify-local --split-input-file %s | %python %source/test/inline-aliases.py \
// RUN:   | FileCheck %s --implicit-check-not="received {{[1-9]}}"

// Dims that ranks do not divide have ceil-sized parts, and move no more bytes than others.

// 50257 rows are seven parts of 6283 and one of 6276.
// CHECK-LABEL: @vocabulary_of_50257
module attributes {dist.mesh = #dist.mesh<t = 8>, dist.seeds = ["table=[t,-]", "y=[-,-,-]"]} {
  func.func @vocabulary_of_50257(
      %table: tensor<50257x1024xbf16> {graph.name = "table"}, %ids: tensor<4x256xi64>)
      -> (tensor<4x256x1024xbf16> {graph.name = "y"}) {
    // CHECK-SAME: %{{.*}}: tensor<6283x1024xbf16>
    // CHECK: all_reduce {{.*}} shape [4, 256, 1024] received 3670016{{ }}
    %y = graph.gather %table, %ids along 0 : tensor<50257x1024xbf16>, tensor<4x256xi64>
    return %y : tensor<4x256x1024xbf16>
  }
}

// -----

// Parts of 3, 3, 3 and 1 rows: what is missing is no maximum.
// CHECK-LABEL: @maximum_of_ten_rows
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[t,-]", "y=[-]"]} {
  func.func @maximum_of_ten_rows(
      %x: tensor<10x6xf32> {graph.name = "x"}) -> (tensor<6xf32> {graph.name = "y"}) {
    // CHECK: graph.constant {{.*}}dense<0xFF800000> : tensor<f32>
    // CHECK: graph.select {{.*}} : tensor<3x1xi1>, tensor<3x6xf32>, tensor<f32>
    // CHECK: all_reduce {{.*}} from "[-] partial max(t:4)" to "[-]" shape [6] received 36{{ }}
    %y = graph.reduce max %x over [0] : tensor<10x6xf32>
    return %y : tensor<6xf32>
  }
}

// -----

// The mean divides by ten, not by the twelve rows that ranks hold.
// CHECK-LABEL: @mean_of_ten_rows
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[t,-]", "y=[-]"]} {
  func.func @mean_of_ten_rows(
      %x: tensor<10x6xf32> {graph.name = "x"}) -> (tensor<6xf32> {graph.name = "y"}) {
    // CHECK: graph.reduce mean {{.*}} divisor 10
    // CHECK: all_reduce {{.*}} from "[-] partial sum(t:4)" to "[-]" shape [6] received 36{{ }}
    %y = graph.reduce mean %x over [0] : tensor<10x6xf32>
    return %y : tensor<6xf32>
  }
}

// -----

// Two ranks have a row, two have none.
// CHECK-LABEL: @two_rows_on_four_ranks
module attributes {dist.mesh = #dist.mesh<t = 4>, dist.seeds = ["x=[t,-]", "y=[t,-]"]} {
  func.func @two_rows_on_four_ranks(
      %x: tensor<2x6xf32> {graph.name = "x"}) -> (tensor<2x6xf32> {graph.name = "y"}) {
    // CHECK: graph.abs {{.*}} : tensor<1x6xf32>
    %y = graph.abs %x : tensor<2x6xf32>
    return %y : tensor<2x6xf32>
  }
}
