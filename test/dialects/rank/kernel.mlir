// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// A kernel is a symbol, its launch names it.
// CHECK-LABEL: rank.kernel @double(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<4xf32>) -> tensor<4xf32> attributes {extent = 4 : i64
rank.kernel @double(%x: tensor<4xf32>) -> tensor<4xf32> attributes {extent = 4 : i64} {
  // CHECK: %[[Y:.*]] = graph.add %[[X]], %[[X]]
  %y = graph.add %x, %x : tensor<4xf32>, tensor<4xf32>
  // CHECK: rank.yield %[[Y]] : tensor<4xf32>
  rank.yield %y : tensor<4xf32>
}

// CHECK-LABEL: @launch
func.func @launch(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: rank.launch @double(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  %y = rank.launch @double(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
