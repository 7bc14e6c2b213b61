// RUN: pcc-opt %s --split-input-file --verify-diagnostics

func.func @another_argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{takes 'tensor<4xf32>', its body 'tensor<3xf32>'}}
  %y = rank.library_call(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<3xf32>):
    %c = graph.constant dense<0.0> : tensor<4xf32>
    rank.yield %c : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

func.func @another_result(%x: tensor<4xf32>) -> tensor<3xf32> {
  %y = rank.library_call(%x) : (tensor<4xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<4xf32>):
    // expected-error @below {{yields 'tensor<4xf32>', the call returns 'tensor<3xf32>'}}
    rank.yield %a : tensor<4xf32>
  }
  return %y : tensor<3xf32>
}

// -----

func.func @from_above(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-note @below {{required by region isolation constraints}}
  %y = rank.library_call() : () -> tensor<4xf32> {
    // expected-error @below {{using value defined outside the region}}
    %0 = graph.relu %x : tensor<4xf32>
    rank.yield %0 : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
