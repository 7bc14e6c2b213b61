// RUN: pcc-opt %s --apply-optimizer --verify-diagnostics --split-input-file

// expected-error @below {{no optimizer is called 'lion'}}
module attributes {graph.training = {optimizer = "lion"}} {
  func.func @main(%l: tensor<f32>) -> tensor<f32> { return %l : tensor<f32> }
}

// -----

// expected-error @below {{invalid --lr-schedule 'step(steps=3)': it is not constant, linear or cosine}}
module attributes {graph.training = {optimizer = "sgd", lr_schedule = "step(steps=3)"}} {
  func.func @main(%l: tensor<f32>) -> tensor<f32> { return %l : tensor<f32> }
}

// -----

// expected-error @below {{invalid --lr-schedule 'linear': it needs steps=N, the last step of the fall, with N above warmup}}
module attributes {graph.training = {optimizer = "sgd", lr_schedule = "linear"}} {
  func.func @main(%l: tensor<f32>) -> tensor<f32> { return %l : tensor<f32> }
}

// -----

// expected-error @below {{invalid --lr-schedule 'cosine(steps=3, floor=1)': it has no setting 'floor'}}
module attributes {graph.training = {optimizer = "sgd", lr_schedule = "cosine(steps=3, floor=1)"}} {
  func.func @main(%l: tensor<f32>) -> tensor<f32> { return %l : tensor<f32> }
}
