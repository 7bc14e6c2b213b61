// RUN: pcc-opt --verify-placed --split-input-file --verify-diagnostics %s

func.func @no_stage(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{has no 'pipe.stage'; every op has one after 3-place}}
  %0 = graph.relu %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @missing_transfer(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x {pipe.stage = 0 : i64} : tensor<8xf32>
  // expected-error @below {{on stage 1 reads a value of stage 0 without a transfer}}
  %1 = graph.neg %0 {pipe.stage = 1 : i64} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

func.func @sent_by_another(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x {pipe.stage = 0 : i64} : tensor<8xf32>
  // expected-error @below {{sends from stage 1 a value that is not computed there}}
  %1 = pipe.transfer %0 from 1 to 2 {pipe.stage = 2 : i64} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

module attributes {pipe.stages = 2 : i64} {
func.func @stage_out_of_range(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x {pipe.stage = 0 : i64} : tensor<8xf32>
  // expected-error @below {{attribute 'pipe.stage' needs a stage of 2 stages, counted from 0, got 2}}
  %1 = pipe.transfer %0 from 0 to 2 {pipe.stage = 2 : i64} : tensor<8xf32>
  return %1 : tensor<8xf32>
}
}

// -----

func.func @sent_back(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = graph.relu %x {pipe.stage = 1 : i64} : tensor<8xf32>
  // expected-error @below {{sends a value of the forward pass from stage 1 back to stage 0}}
  %1 = pipe.transfer %0 from 1 to 0 {pipe.stage = 0 : i64} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

module attributes {pipe.stages = 1 : i64} {
graph.parameter @w : tensor<8xf32> trained
func.func @written_twice(%x: tensor<8xf32>) {
  graph.set_parameter @w, %x {pipe.stage = 0 : i64} : tensor<8xf32>
  // expected-error @below {{writes parameter 'w' a second time on stage 0}}
  graph.set_parameter @w, %x {pipe.stage = 0 : i64} : tensor<8xf32>
  return
}
}

// -----

module attributes {pipe.stages = 2 : i64} {
graph.parameter @w : tensor<8xf32> trained
func.func @copies_that_differ() {
  %0 = graph.get_parameter @w {pipe.stage = 0 : i64} : tensor<8xf32>
  %1 = graph.get_parameter @w {pipe.stage = 1 : i64} : tensor<8xf32>
  %2 = graph.add %0, %0 {pipe.stage = 0 : i64} : tensor<8xf32>, tensor<8xf32>
  %3 = graph.mul %1, %1 {pipe.stage = 1 : i64} : tensor<8xf32>, tensor<8xf32>
  // expected-note @below {{the other write is here}}
  graph.set_parameter @w, %2 {pipe.stage = 0 : i64} : tensor<8xf32>
  // expected-error @below {{writes another value to 'w' on stage 1 than stage 0 does, but both hold this parameter}}
  graph.set_parameter @w, %3 {pipe.stage = 1 : i64} : tensor<8xf32>
  return
}
}
