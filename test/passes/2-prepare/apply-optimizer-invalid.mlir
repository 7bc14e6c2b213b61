// RUN: pcc-opt %s --apply-optimizer --verify-diagnostics --split-input-file

// expected-error @below {{no optimizer is called 'lion'}}
module attributes {graph.training = {optimizer = "lion"}} {
  func.func @main(%l: tensor<f32>) -> tensor<f32> { return %l : tensor<f32> }
}

// -----

// expected-error @below {{cannot follow --lr-schedule 'step(steps=3)': it is none of constant, linear and cosine}}
module attributes {graph.training = {optimizer = "sgd", lr_schedule = "step(steps=3)"}} {
  func.func @main(%l: tensor<f32>) -> tensor<f32> { return %l : tensor<f32> }
}

// -----

// expected-error @below {{cannot follow --lr-schedule 'linear': steps=N, with N above warmup, must say when it has fallen}}
module attributes {graph.training = {optimizer = "sgd", lr_schedule = "linear"}} {
  func.func @main(%l: tensor<f32>) -> tensor<f32> { return %l : tensor<f32> }
}

// -----

// expected-error @below {{cannot follow --lr-schedule 'cosine(steps=3, floor=1)': it has no setting 'floor'}}
module attributes {graph.training = {optimizer = "sgd", lr_schedule = "cosine(steps=3, floor=1)"}} {
  func.func @main(%l: tensor<f32>) -> tensor<f32> { return %l : tensor<f32> }
}
