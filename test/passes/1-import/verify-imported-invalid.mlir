// RUN: not pcc-opt %s --verify-imported -split-input-file 2>&1 | FileCheck %s

// CHECK: has no function @main
func.func @other() {
  return
}

// -----

// CHECK: takes 'tensor<?xf32>'; after '1-import' every value is a tensor of static shape
func.func @main(%x: tensor<?xf32> {graph.name = "x"}) {
  return
}

// -----

// CHECK: has an argument 0 without graph.name
func.func @main(%x: tensor<2xf32>) {
  return
}
