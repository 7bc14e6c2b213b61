//===- Passes.td - passes of phase 1-import ----------------*- tablegen -*-===//

#ifndef PCC_PASSES_1_IMPORT_PASSES
#define PCC_PASSES_1_IMPORT_PASSES

include "mlir/Pass/PassBase.td"

def VerifyImported : Pass<"verify-imported", "::mlir::ModuleOp"> {
  let summary = "checks that the import left a graph on one device";
  let description = [{
    Gate of `1-import`. The pass changes nothing and checks that

    - the module has a function `@main`;
    - every op is a graph op, a `dist.pin` or an op of the func dialect other than a call;
    - all arguments and results are tensors of static shape;
    - every argument of a function has a name (`graph.name`).

    A failure is a defect of the model or, if the model is valid, of pcc; the exit code is 4.
    [example: test/passes/1-import/verify-imported.mlir]
  }];
  let statistics = [Statistic<"numOps", "num-ops", "ops checked">];
}

#endif
