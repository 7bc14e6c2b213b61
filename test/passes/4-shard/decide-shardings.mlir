// RUN: pcc-opt --decide-shardings --insert-reshards --verify-sharded --split-input-file %s | FileCheck %s

// Both weights of an MLP are divided, w1 by columns and w2 by rows: one reduction, of y.
// CHECK-LABEL: @megatron_mlp
module attributes {dist.mesh = #dist.mesh<tp = 2>} {
  graph.parameter @w1 : tensor<64x256xf32>
  graph.parameter @w2 : tensor<256x64xf32>
  func.func @main(%x: tensor<8x32x64xf32> {graph.name = "x", graph.batch_dim = 0 : i64}) -> tensor<8x32x64xf32> {
    // CHECK: get_parameter @w1 {dist.shardings = [#[[COLUMNS:.*]]],
    %w1 = graph.get_parameter @w1 : tensor<64x256xf32>
    %h = graph.matmul %x, %w1 : tensor<8x32x64xf32>, tensor<64x256xf32>
    %a = graph.relu %h : tensor<8x32x256xf32>
    %w2 = graph.get_parameter @w2 : tensor<256x64xf32>
    // CHECK: %[[PART:.*]] = graph.matmul {{.*}}#partial
    %y = graph.matmul %a, %w2 : tensor<8x32x256xf32>, tensor<256x64xf32>
    // CHECK: %[[SUM:.*]] = dist.reshard %[[PART]] from #partial
    %z = graph.add %y, %x : tensor<8x32x64xf32>, tensor<8x32x64xf32>
    return %z : tensor<8x32x64xf32>
  }
}
