// RUN: pcc-opt %s | pcc-opt | FileCheck %s

// Every attribute that PccDiscardableAttrs.td declares.
// CHECK: module attributes {pcc.options = {"--tp" = "2"}, pcc.phase = 4 : i64}
module attributes {pcc.options = {"--tp" = "2"}, pcc.phase = 4 : i64} {}
