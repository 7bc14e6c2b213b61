// RUN: pcc-opt --hoist-shared --split-input-file --verify-diagnostics %s

// expected-error @below {{cannot share between 0 microbatches}}
module attributes {pipe.microbatches = 0 : i64} {}
