// RUN: pcc-opt --verify-placed %s | FileCheck %s

module attributes {pipe.stages = 2 : i64} {

// CHECK-LABEL: @placed
func.func @placed(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x {pipe.stage = 0 : i64} : tensor<8xf32>
  // CHECK: pipe.transfer
  %1 = pipe.transfer %0 from 0 to 1 {pipe.stage = 1 : i64} : tensor<8xf32>
  %2 = graph.neg %1 {pipe.stage = 1 : i64} : tensor<8xf32>
  return %2 : tensor<8xf32>
}

}
