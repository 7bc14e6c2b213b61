// RUN: pcc-opt --recompute --split-input-file --verify-diagnostics %s

// expected-error @below {{attribute 'pipe.recompute' needs none, full, selective or auto, got "some"}}
module attributes {pipe.recompute = "some"} {}

// -----

// The number of microbatches in flight follows from the schedule.
// expected-error @below {{no schedule is called 'backwards'}}
module attributes {pipe.microbatches = 2 : i64, pipe.schedule = "backwards"} {
  graph.parameter @w : tensor<2xf32> trained
  func.func @stage_0(%g: tensor<2xf32>) attributes {pipe.stage = 0 : i64} {
    graph.set_parameter @w, %g {pipe.part = 3 : i64} : tensor<2xf32>
    return
  }
}

// -----

// expected-error @below {{stage 1 has no function}}
module attributes {pipe.stages = 2 : i64} {
  graph.parameter @w : tensor<2xf32> trained
  func.func @stage_0(%g: tensor<2xf32>) attributes {pipe.stage = 0 : i64} {
    graph.set_parameter @w, %g {pipe.part = 3 : i64} : tensor<2xf32>
    return
  }
}
