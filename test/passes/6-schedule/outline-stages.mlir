// RUN: pcc-opt --outline-stages %s | FileCheck %s

// Each stage takes the inputs that it reads; a transfer is a send at the end and a receive.
// CHECK: graph.inputs = [{graph.name = "x"}], graph.outputs = [{graph.name = "y"}]
module attributes {pipe.stages = 2 : i64} {
  // CHECK-LABEL: func.func @stage_0(%{{.*}}: tensor<8xf32> {graph.name = "x"})
  // CHECK-NEXT:    %[[H:.*]] = graph.relu
  // CHECK-NEXT:    pipe.send %[[H]] to 1 value "#0"
  // CHECK-LABEL: func.func @stage_1() -> (tensor<8xf32> {graph.name = "y"})
  // CHECK-NEXT:    %[[H:.*]] = pipe.receive from 0 value "#0"
  // CHECK-NEXT:    graph.neg %[[H]]
  func.func @main(%x: tensor<8xf32> {graph.name = "x"}) -> (tensor<8xf32> {graph.name = "y"}) {
    %0 = graph.relu %x {pipe.stage = 0 : i64} : tensor<8xf32>
    %1 = pipe.transfer %0 from 0 to 1 {pipe.stage = 1 : i64} : tensor<8xf32>
    %2 = graph.neg %1 {pipe.stage = 1 : i64} : tensor<8xf32>
    return %2 : tensor<8xf32>
  }
}
