// RUN: pcc-opt %s --verify-prepared | FileCheck %s

module attributes {pipe.microbatches = 4 : i64} {
  // CHECK-LABEL: @prepared
  func.func @prepared(%x: tensor<8x4xf32> {graph.batch_dim = 0 : i64}) -> tensor<8x4xf32> {
    %0 = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %1 = graph.broadcast %0 : tensor<4xf32> to tensor<8x4xf32>
    %2 = graph.add %x, %1 : tensor<8x4xf32>, tensor<8x4xf32>
    return %2 : tensor<8x4xf32>
  }
}
