// RUN: pcc-opt --verify-emitted --split-input-file --verify-diagnostics %s

// expected-error @below {{phase '7-emit' cannot read the module: the module does not list the model's inputs}}
module {
}

// -----

// expected-error @below {{stage 1 has no function}}
module attributes {graph.inputs = [], graph.outputs = [], pipe.stages = 2 : i64} {
  func.func @stage_0() attributes {pipe.stage = 0 : i64} {
    return
  }
  pipe.actions 0 stages [0] ["0F0"]
}

// -----

// expected-error @below {{'h' is received but not sent}}
module attributes {graph.inputs = [], graph.outputs = []} {
  func.func @stage_0() attributes {pipe.stage = 0 : i64} {
    %h = pipe.receive from 0 value "h" : tensor<2xf32>
    return
  }
  pipe.actions 0 stages [0] ["0F0"]
}
