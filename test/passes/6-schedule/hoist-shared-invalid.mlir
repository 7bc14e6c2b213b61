// RUN: pcc-opt --hoist-shared --split-input-file --verify-diagnostics %s

// expected-error @below {{attribute 'pipe.microbatches' needs an i64 from 1 to 2147483647, got 0}}
module attributes {pipe.microbatches = 0 : i64} {}
