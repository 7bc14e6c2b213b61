// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// Every attribute that RankDiscardableAttrs.td declares.
// CHECK: module attributes
// CHECK-SAME: rank.cpus = ["x86-64-v3"], rank.gpu_arch = "sm_90", rank.memory_limit = 65536 : i64
// CHECK-SAME: rank.random_weights = -7 : i64, rank.tf32
module attributes {
  rank.cpus = ["x86-64-v3"], rank.gpu_arch = "sm_90", rank.memory_limit = 65536 : i64, rank.random_weights = -7 : i64,
  rank.tf32} {}
