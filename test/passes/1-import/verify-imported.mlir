// RUN: pcc-opt %s --verify-imported -split-input-file | FileCheck %s

// A weight, an input with its name and graph ops: nothing to complain about.
// CHECK-LABEL: @main
graph.parameter @w : tensor<4xf32>
func.func @main(%x: tensor<2x4xf32> {graph.name = "x"}) -> (tensor<2x4xf32> {graph.name = "y"}) {
  %w = graph.get_parameter @w : tensor<4xf32>
  %y = graph.add %x, %w : tensor<2x4xf32>, tensor<4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// A pin is what an annotation leaves.
// CHECK-LABEL: @main
func.func @main(%x: tensor<4xf32> {graph.name = "x"}) -> tensor<4xf32> {
  // CHECK: dist.pin
  %0 = dist.pin %x to #dist.sharding<"[-]"> value "x" : tensor<4xf32>
  return %0 : tensor<4xf32>
}
