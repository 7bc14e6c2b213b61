// RUN: pcc-opt --verify-scheduled --split-input-file --verify-diagnostics %s

module attributes {pipe.stages = 2 : i64} {
  func.func @stage_1() attributes {pipe.stage = 1 : i64} {
    // expected-error @below {{waits for 'h', which stage 0 does not send to this stage}}
    %h = pipe.receive from 0 value "h" : tensor<8xf32>
    return
  }
  pipe.actions 0 stages [0] ["0F0"]
  pipe.actions 1 stages [1] ["1F0"]
}

// -----

module attributes {pipe.stages = 2 : i64} {
  func.func @stage_0(%h: tensor<8xf32>) attributes {pipe.stage = 0 : i64} {
    pipe.send %h to 1 value "layer_1" : tensor<8xf32>
    return
  }
  func.func @stage_1() attributes {pipe.stage = 1 : i64} {
    // expected-error @below {{waits for 'layer_11', which stage 0 does not send to this stage; did you mean layer_1?}}
    %h = pipe.receive from 0 value "layer_11" : tensor<8xf32>
    return
  }
  pipe.actions 0 stages [0] ["0F0"]
  pipe.actions 1 stages [1] ["1F0"]
}

// -----

module attributes {pipe.stages = 2 : i64} {
  func.func @stage_0(%h: tensor<8xf32>) attributes {pipe.stage = 0 : i64} {
    pipe.send %h to 1 value "h" : tensor<8xf32>
    return
  }
  func.func @stage_1() attributes {pipe.stage = 1 : i64} {
    // expected-error @below {{waits for 'h' as 'tensor<4xf32>', which stage 0 sends as 'tensor<8xf32>'}}
    %h = pipe.receive from 0 value "h" : tensor<4xf32>
    return
  }
  pipe.actions 0 stages [0] ["0F0"]
  pipe.actions 1 stages [1] ["1F0"]
}

// -----

module attributes {pipe.stages = 2 : i64} {
  func.func @stage_0(%h: tensor<8xf32>) attributes {pipe.stage = 0 : i64} {
    // expected-error @below {{sends 'h', which is never received}}
    pipe.send %h to 1 value "h" : tensor<8xf32>
    return
  }
  pipe.actions 0 stages [0] ["0F0"]
  pipe.actions 1 stages [1] ["1F0"]
}

// -----

module attributes {pipe.stages = 2 : i64} {
  func.func @stage_0(%h: tensor<8xf32>) attributes {pipe.stage = 0 : i64} {
    // expected-note @below {{the first time is here}}
    pipe.send %h to 1 value "h" : tensor<8xf32>
    // expected-error @below {{sends 'h' to stage 1 a second time}}
    pipe.send %h to 1 value "h" : tensor<8xf32>
    return
  }
  pipe.actions 0 stages [0] ["0F0"]
  pipe.actions 1 stages [1] ["1F0"]
}

// -----

module attributes {pipe.stages = 2 : i64} {
  // expected-error @below {{runs stage 2 of 2}}
  pipe.actions 0 stages [2] ["2F0"]
}

// -----

module attributes {pipe.stages = 1 : i64} {
  // expected-error @below {{is of position 1, expected 0}}
  pipe.actions 1 stages [0] ["0F0"]
}

// -----

module attributes {pipe.stages = 1 : i64} {
  pipe.actions 0 stages [0] ["0F0"]
  // expected-error @below {{runs stage 0, which position 0 runs}}
  pipe.actions 1 stages [0] []
}

// -----

// expected-error @below {{no 'pipe.actions' runs stage 1 of 2}}
module attributes {pipe.stages = 2 : i64} {
  pipe.actions 0 stages [0] ["0F0"]
}

// -----

module attributes {pipe.stages = 1 : i64} {
  // expected-error @below {{has '0X0' in its table, which is not an action}}
  pipe.actions 0 stages [0] ["0X0"]
}

// -----

module attributes {pipe.stages = 1 : i64, pipe.microbatches = 2 : i64} {
  // expected-error @below {{the actions are no valid schedule}}
  pipe.actions 0 stages [0] ["0F0"]
}

// -----

module attributes {pipe.stages = 1 : i64} {
  func.func @stage_0() attributes {pipe.stage = 0 : i64} { return }
  // expected-error @below {{stage 0 has no function for UNSHARD}}
  pipe.actions 0 stages [0] ["0UNSHARD", "0F0"]
}

// -----

module attributes {pipe.stages = 1 : i64} {
  // expected-error @below {{is the function of stage 0 for action U0, which is not in the table or has another function}}
  func.func @stage_0_update_0() attributes {pipe.stage = 0 : i64, pipe.action = "U0"} { return }
  func.func @stage_0() attributes {pipe.stage = 0 : i64} { return }
  pipe.actions 0 stages [0] ["0F0"]
}

// -----

module attributes {pipe.stages = 1 : i64} {
  func.func @stage_0_shared() attributes {pipe.stage = 0 : i64, pipe.action = "UNSHARD"} { return }
  // expected-error @below {{stage 0 runs UNSHARD more than once}}
  pipe.actions 0 stages [0] ["0UNSHARD", "0UNSHARD", "0F0"]
}

// -----

module attributes {pipe.stages = 1 : i64} {
  func.func @stage_0_shared() attributes {pipe.stage = 0 : i64, pipe.action = "UNSHARD"} { return }
  // expected-error @below {{0UNSHARD comes after the first use of its stage}}
  pipe.actions 0 stages [0] ["0F0", "0UNSHARD"]
}

// -----

module attributes {pipe.stages = 1 : i64, graph.inputs = [{graph.name = "t"}]} {
  func.func @stage_0_shared(%t: tensor<8xf32> {graph.name = "t"}) -> tensor<8xf32> attributes {pipe.stage = 0 : i64, pipe.action = "UNSHARD"} {
    return %t : tensor<8xf32>
  }
  // expected-error @below {{takes result 0 of @stage_0_shared as 'tensor<4xf32>', which stage 0 does not compute}}
  func.func @stage_0(%t: tensor<4xf32> {pipe.held = {by = @stage_0_shared, result = 0 : i64}}) attributes {pipe.stage = 0 : i64} { return }
  pipe.actions 0 stages [0] ["0UNSHARD", "0F0"]
}

// -----

#rows = #dist.sharding<"[8@tp:2]">

module attributes {pipe.stages = 1 : i64} {
  graph.parameter @w : tensor<8xf32> trained
  func.func @stage_0() attributes {pipe.stage = 0 : i64} {
    %0 = graph.get_parameter @w {dist.shardings = [#rows]} : tensor<4xf32>
    graph.set_parameter @w, %0 {dist.placement = #rows} : tensor<4xf32>
    // expected-error @below {{writes 'w' in a sharding in which no stage of its ranks reads it; see 'dist.placement'}}
    graph.set_parameter @w, %0 : tensor<4xf32>
    return
  }
  pipe.actions 0 stages [0] ["0F0"]
}

// -----

// expected-error @below {{no stage returns 'y' of 'graph.outputs'}}
module attributes {pipe.stages = 1 : i64, graph.outputs = [{dist.global = tensor<8xf32>, graph.name = "y"}]} {
  func.func @stage_0() attributes {pipe.stage = 0 : i64} { return }
  pipe.actions 0 stages [0] ["0F0"]
}

// -----

module attributes {pipe.stages = 1 : i64, graph.inputs = [{dist.global = tensor<8xf32>, graph.name = "x"}]} {
  // expected-error @below {{'z' is not in 'graph.inputs'}}
  func.func @stage_0(%z: tensor<8xf32> {dist.global = tensor<8xf32>, graph.name = "z"}) attributes {pipe.stage = 0 : i64} { return }
  pipe.actions 0 stages [0] ["0F0"]
}

// -----

module attributes {pipe.stages = 1 : i64, graph.inputs = [{dist.global = tensor<16xf32>, graph.name = "x"}]} {
  // expected-error @below {{'x' has 'dist.global' = tensor<8xf32> here, but 'dist.global' = tensor<16xf32> in 'graph.inputs'}}
  func.func @stage_0(%x: tensor<8xf32> {dist.global = tensor<8xf32>, graph.name = "x"}) attributes {pipe.stage = 0 : i64} { return }
  pipe.actions 0 stages [0] ["0F0"]
}

// -----

module attributes {pipe.stages = 1 : i64, graph.inputs = [{graph.batch_dim = 0 : i64, graph.name = "x"}]} {
  // expected-error @below {{'x' has no 'graph.batch_dim' here, but 'graph.batch_dim' = 0 : i64 in 'graph.inputs'}}
  func.func @stage_0(%x: tensor<8xf32> {graph.name = "x"}) attributes {pipe.stage = 0 : i64} { return }
  pipe.actions 0 stages [0] ["0F0"]
}

// -----

module attributes {pipe.stages = 1 : i64} {
  // expected-error @below {{argument 0 of @stage_0 has neither 'graph.name', as an input of the model, nor 'pipe.held', as a value that the stage holds}}
  func.func @stage_0(%x: tensor<8xf32>) attributes {pipe.stage = 0 : i64} { return }
  pipe.actions 0 stages [0] ["0F0"]
}
