// RUN: pcc-opt %s --split-actions --verify-diagnostics --split-input-file

func.func @stage_0(%x: tensor<4xf32>) attributes {pipe.stage = 0 : i64} {
  %y = graph.exp %x {pipe.part = 1 : i64} : tensor<4xf32>
  // expected-error @below {{of part 0 reads a value of part 1, which runs later}}
  %z = graph.exp %y {pipe.part = 0 : i64} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'pipe.table': the schedule has 1 line with actions, expected one for each of 2 ranks}}
module attributes {pipe.stages = 2 : i64, pipe.schedule = "csv", pipe.table = "0F0,0B0"} {}
