// RUN: pcc-opt %s --differentiate --verify-diagnostics --split-input-file

// expected-error @unknown {{the loss does not depend on any weight that trains}}
module attributes {graph.training = {loss = "loss", freeze = ["*"]}} {
  graph.parameter @w : tensor<4xf32>
  func.func @main() -> (tensor<f32> {graph.name = "loss"}) {
    %w = graph.get_parameter @w : tensor<4xf32>
    %l = graph.reduce sum %w over [0] : tensor<4xf32>
    return %l : tensor<f32>
  }
}

// -----

// expected-error @below {{invalid --loss-scale 'dynamic(rate=2)': it has no setting 'rate'}}
module attributes {graph.training = {loss = "loss", loss_scale = "dynamic(rate=2)"}} {
  graph.parameter @w : tensor<4xf32>
  func.func @main() -> (tensor<f32> {graph.name = "loss"}) {
    %w = graph.get_parameter @w : tensor<4xf32>
    %l = graph.reduce sum %w over [0] : tensor<4xf32>
    return %l : tensor<f32>
  }
}

// -----

// expected-error @below {{invalid --loss-scale '-1': it must be positive}}
module attributes {graph.training = {loss = "loss", loss_scale = "-1"}} {
  graph.parameter @w : tensor<4xf32>
  func.func @main() -> (tensor<f32> {graph.name = "loss"}) {
    %w = graph.get_parameter @w : tensor<4xf32>
    %l = graph.reduce sum %w over [0] : tensor<4xf32>
    return %l : tensor<f32>
  }
}
