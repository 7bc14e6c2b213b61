// RUN: pcc-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{attribute 'pipe.micro_batches' is unknown; did you mean pipe.microbatches?}}
module attributes {pipe.micro_batches = 4 : i64} {}

// -----

// expected-error @below {{attribute 'pipe.stages' needs an i64 from 1 to 2147483647, got 2 : i32}}
module attributes {pipe.stages = 2 : i32} {}

// -----

// expected-error @below {{attribute 'pipe.virtual_stages' needs a divisor of 4, the number of stages, got 3}}
module attributes {pipe.stages = 4 : i64, pipe.virtual_stages = 3 : i64} {}

// -----

// expected-error @below {{attribute 'pipe.recompute' needs none, full, selective or auto, got "some"}}
module attributes {pipe.recompute = "some"} {}

// -----

// expected-error @below {{attribute 'pipe.activation_bytes' needs an array<i64> of numbers of at least 0}}
module attributes {pipe.activation_bytes = array<i64: -1>} {}

// -----

// expected-error @below {{attribute 'pipe.stage' belongs on a function or an op, not on a module}}
module attributes {pipe.stage = 0 : i64} {}

// -----

module attributes {pipe.stages = 2 : i64} {
func.func @no_such_stage(%x: tensor<4xf32>) {
  // expected-error @below {{attribute 'pipe.stage' needs a stage of 2 stages, counted from 0, got 2}}
  %y = graph.relu %x {pipe.stage = 2 : i64} : tensor<4xf32>
  return
}
}

// -----

// expected-error @below {{attribute 'pipe.action' needs F, B, I, W, UNSHARD or U and a number, got "UPDATE"}}
func.func @no_such_action() attributes {pipe.action = "UPDATE"} { return }

// -----

// expected-error @below {{attribute 'pipe.held' of argument 0 needs {by = @function, result = i64 of at least 0}, got}}
func.func @no_function(%x: tensor<4xf32> {pipe.held = {result = 0 : i64}}) { return }

// -----

// expected-error @below {{attribute 'pipe.held' of argument 0 needs {by = @function, result = i64 of at least 0}, got}}
func.func @no_result(%x: tensor<4xf32> {pipe.held = {by = @no_result, result = -1 : i64}}) { return }
