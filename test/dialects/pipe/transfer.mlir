// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// CHECK-LABEL: @from_stage_to_stage
func.func @from_stage_to_stage(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: pipe.transfer %{{.*}} from 0 to 1 : tensor<4xf32>
  %y = pipe.transfer %x from 0 to 1 : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK-LABEL: @messages_have_names
func.func @messages_have_names(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[Y:.*]] = pipe.receive from 0 value "h#0" : tensor<4xf32>
  %y = pipe.receive from 0 value "h#0" : tensor<4xf32>
  // CHECK: pipe.send %{{.*}} to 2 value "h#1" : tensor<4xf32>
  pipe.send %x to 2 value "h#1" : tensor<4xf32>
  return %y : tensor<4xf32>
}

// CHECK: pipe.actions 1 stages [1, 3] ["1F0", "1F1", "3F0", "3F1"]
pipe.actions 1 stages [1, 3] ["1F0", "1F1", "3F0", "3F1"]
