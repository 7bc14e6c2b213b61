// RUN: pcc-opt --outline-stages --schedule-actions --verify-scheduled %s | FileCheck %s

// CHECK: pipe.actions 1 stages [1] ["1F0", "1F1"]
module attributes {pipe.stages = 2 : i64, pipe.microbatches = 2 : i64} {
  func.func @main(%x: tensor<8xf32> {graph.name = "x"}) -> tensor<8xf32> {
    %0 = graph.relu %x {pipe.stage = 0 : i64} : tensor<8xf32>
    %1 = pipe.transfer %0 from 0 to 1 {pipe.stage = 1 : i64} : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
