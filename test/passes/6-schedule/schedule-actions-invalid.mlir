// RUN: pcc-opt --schedule-actions --split-input-file --verify-diagnostics %s

// expected-error @below {{no schedule is called '2f2b'}}
module attributes {pipe.stages = 2 : i64, pipe.schedule = "2f2b"} {}

// -----

// expected-error @below {{attribute 'pipe.microbatches' needs an i64 from 1 to 2147483647, got 0}}
module attributes {pipe.stages = 2 : i64, pipe.microbatches = 0 : i64} {}

// -----

// expected-error @below {{'pipe.table': line 1, column 5: 0B2 is of microbatch 2, but there are 2 (0 to 1)}}
module attributes {pipe.microbatches = 2 : i64, pipe.schedule = "csv", pipe.table = "0F0,0B2"} {}
