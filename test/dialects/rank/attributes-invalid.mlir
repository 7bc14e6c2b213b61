// RUN: pcc-opt %s --verify-diagnostics --split-input-file

// expected-error @below {{attribute 'rank.gpuarch' is unknown; did you mean rank.gpu_arch?}}
module attributes {rank.gpuarch = "sm_90"} {}

// -----

// expected-error @below {{attribute 'rank.cpus' needs an array of strings, got ["x86-64-v3", 4]}}
module attributes {rank.cpus = ["x86-64-v3", 4 : i64]} {}

// -----

// expected-error @below {{attribute 'rank.memory_limit' needs an i64 of at least 0, got -1}}
module attributes {rank.memory_limit = -1 : i64} {}

// -----

// expected-error @below {{attribute 'rank.tf32' belongs on a module, not on a function}}
func.func @wrong_place() attributes {rank.tf32} { return }
