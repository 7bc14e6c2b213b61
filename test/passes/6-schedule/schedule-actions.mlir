// RUN: pcc-opt --schedule-actions --split-input-file %s | FileCheck %s

// Forward only: every position runs its microbatches in order.
module attributes {pipe.stages = 2 : i64, pipe.microbatches = 3 : i64} {
  // CHECK-LABEL: @main
  func.func @main() { return }
  // CHECK: pipe.actions 0 stages [0] ["0F0", "0F1", "0F2"]
  // CHECK: pipe.actions 1 stages [1] ["1F0", "1F1", "1F2"]
}

// -----

// Shared values of a stage are computed right before its first microbatch.
module attributes {pipe.stages = 2 : i64, pipe.virtual_stages = 2 : i64, pipe.microbatches = 2 : i64} {
  // CHECK-LABEL: @stage_1_shared
  func.func @stage_1_shared() attributes {pipe.stage = 1 : i64, pipe.action = "UNSHARD"} { return }
  // CHECK: pipe.actions 0 stages [0, 1] ["0F0", "1UNSHARD", "1F0", "0F1", "1F1"]
}

// -----

// Two stages per position.
module attributes {pipe.stages = 4 : i64, pipe.virtual_stages = 2 : i64,
    pipe.microbatches = 2 : i64} {
  // CHECK-LABEL: @two_chunks
  func.func @two_chunks() { return }
  // CHECK: pipe.actions 0 stages [0, 2] ["0F0", "0F1", "2F0", "2F1"]
  // CHECK: pipe.actions 1 stages [1, 3] ["1F0", "1F1", "3F0", "3F1"]
}

// -----

// The last stage of 1F1B turns each microbatch around at once.
module attributes {pipe.stages = 2 : i64, pipe.microbatches = 2 : i64, pipe.schedule = "1f1b"} {
  // CHECK-LABEL: @backward_at_once
  func.func @backward_at_once() { return }
  // CHECK: pipe.actions 0 stages [0] ["0F0", "0F1", "0B0", "0B1"
  // CHECK: pipe.actions 1 stages [1] ["1F0", "1B0", "1F1", "1B1"
}

// -----

// A table that a user wrote, as it was recorded: which line runs a stage is the user's choice.
module attributes {pipe.stages = 2 : i64, pipe.microbatches = 2 : i64, pipe.schedule = "csv",
    pipe.table = "1F0,1B0,1F1,1B1\0A0F0,0F1,0B0,0B1\0A"} {
  // CHECK-LABEL: @own_table
  func.func @own_table() { return }
  // CHECK: pipe.actions 0 stages [1] ["1F0", "1B0", "1F1", "1B1"]
  // CHECK: pipe.actions 1 stages [0] ["0F0", "0F1", "0B0", "0B1"]
}
