//===- Passes.td - passes of phase 1-import ----------------*- tablegen -*-===//

#ifndef PCC_PASSES_1_IMPORT_PASSES
#define PCC_PASSES_1_IMPORT_PASSES

include "mlir/Pass/PassBase.td"

def VerifyImported : Pass<"verify-imported", "::mlir::ModuleOp"> {
  let summary = "checks that the module is a single-device graph";
  let description = [{
    The gate of `1-import`: the module holds weights and functions of `graph` ops with static shapes, and no op, type or
    attribute of a later phase. [example: test/passes/1-import/verify-imported.mlir]
  }];
  let statistics = [Statistic<"numOps", "num-ops", "graph ops imported">];
}

#endif
