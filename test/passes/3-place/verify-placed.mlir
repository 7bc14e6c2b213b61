// RUN: pcc-opt --verify-placed --split-input-file %s | FileCheck %s

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

// -----

module attributes {pipe.stages = 2 : i64} {

// Two stages hold a weight, and two a counter: their copies get equal values, sent or computed on each stage.
// CHECK-LABEL: @copies_of_parameters
graph.parameter @w : tensor<8xf32> trained
graph.parameter @step : tensor<i64> fill 0.0
func.func @copies_of_parameters(%x: tensor<8xf32>) {
  %0 = graph.neg %x {pipe.stage = 0 : i64} : tensor<8xf32>
  %1 = pipe.transfer %0 from 0 to 1 {pipe.stage = 1 : i64} : tensor<8xf32>
  graph.set_parameter @w, %0 {pipe.stage = 0 : i64} : tensor<8xf32>
  graph.set_parameter @w, %1 {pipe.stage = 1 : i64} : tensor<8xf32>
  %step0 = graph.get_parameter @step {pipe.stage = 0 : i64} : tensor<i64>
  %step1 = graph.get_parameter @step {pipe.stage = 1 : i64} : tensor<i64>
  %one0 = graph.constant {pipe.stage = 0 : i64} dense<1> : tensor<i64>
  %one1 = graph.constant {pipe.stage = 1 : i64} dense<1> : tensor<i64>
  %next0 = graph.add %step0, %one0 {pipe.stage = 0 : i64} : tensor<i64>, tensor<i64>
  %next1 = graph.add %step1, %one1 {pipe.stage = 1 : i64} : tensor<i64>, tensor<i64>
  graph.set_parameter @step, %next0 {pipe.stage = 0 : i64} : tensor<i64>
  // CHECK: graph.set_parameter @step{{.*}}pipe.stage = 1
  graph.set_parameter @step, %next1 {pipe.stage = 1 : i64} : tensor<i64>
  return
}

}
