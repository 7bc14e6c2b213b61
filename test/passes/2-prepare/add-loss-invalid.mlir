// RUN: pcc-opt %s --add-loss --verify-diagnostics --split-input-file

// expected-error @unknown {{cannot train on --loss 'hinge(y, labels)': no loss is called 'hinge'; nearest: 'mse', 'cross_entropy'}}
module attributes {graph.training = {loss = "hinge(y, labels)"}} {
  func.func @main(%y: tensor<8x4xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) { return %y : tensor<8x4xf32> }
}

// -----

// expected-error @unknown {{cannot train on --loss 'mse(z, labels)': no output is called 'z'; nearest: 'y'}}
module attributes {graph.training = {loss = "mse(z, labels)"}} {
  func.func @main(%y: tensor<8x4xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) { return %y : tensor<8x4xf32> }
}

// -----

// expected-error @unknown {{cannot train on --loss 'mse(y)': 'mse' takes an output and labels, got 1 value}}
module attributes {graph.training = {loss = "mse(y)"}} {
  func.func @main(%y: tensor<8x4xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) { return %y : tensor<8x4xf32> }
}

// -----

// expected-error @unknown {{'mse' has no setting 'ignore_index'}}
module attributes {graph.training = {loss = "mse(y, labels, ignore_index=1)"}} {
  func.func @main(%y: tensor<8x4xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) { return %y : tensor<8x4xf32> }
}

// -----

// expected-error @unknown {{'many' is not a number for 'ignore_index'}}
module attributes {graph.training = {loss = "cross_entropy(y, labels, ignore_index=many)"}} {
  func.func @main(%y: tensor<8x4xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) { return %y : tensor<8x4xf32> }
}

// -----

// expected-error @unknown {{it is neither NAME nor FUNCTION(VALUE, ..., SETTING=NUMBER, ...)}}
module attributes {graph.training = {loss = "mse(y, labels"}} {
  func.func @main(%y: tensor<8x4xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) { return %y : tensor<8x4xf32> }
}

// -----

// expected-error @unknown {{output 'y' is tensor<8x4xi64>, which is not supported by 'mse'}}
module attributes {graph.training = {loss = "mse(y, labels)"}} {
  func.func @main(%y: tensor<8x4xi64> {graph.name = "x"}) -> (tensor<8x4xi64> {graph.name = "y"}) { return %y : tensor<8x4xi64> }
}

// -----

// expected-error @unknown {{input 'x' is tensor<8x4xf32>, labels of this loss are tensor<8xi64>}}
module attributes {graph.training = {loss = "cross_entropy(y, x)"}} {
  func.func @main(%y: tensor<8x4xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) { return %y : tensor<8x4xf32> }
}

// -----

// expected-error @unknown {{output 'y' is tensor<8x4xf32>, not one number}}
module attributes {graph.training = {loss = "y"}} {
  func.func @main(%y: tensor<8x4xf32> {graph.name = "x"}) -> (tensor<8x4xf32> {graph.name = "y"}) { return %y : tensor<8x4xf32> }
}
