//===- Passes.td - passes of phase 3-place -------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def CutStages : Pass<"cut-stages", "::mlir::func::FuncOp"> {
  let summary = "gives every op a pipeline stage and joins stages by transfers";
  let description = [{
    Cuts the ops that carry work, in program order, into `pipe.stages` stages by dynamic programming on time and memory, or where
    `pipe.stage_at` names a node, or where nodes begin that `pipe.stage_of_nodes` wants on a later stage. Weights, constants, and cheap ops that depend on inputs and small weights only (masks, rotary
    tables) are cloned into every stage that uses them. [example: test/passes/3-place/cut-stages.mlir @two_stages]
  }];
  let statistics = [Statistic<"numTransfers", "transfers", "values sent between stages">,
                    Statistic<"numClones", "clones", "ops cloned into a further stage">];
  let dependentDialects = ["::pcc::pipe::PipeDialect"];
}

def VerifyPlaced : Pass<"verify-placed", "::mlir::func::FuncOp"> {
  let summary = "gate: every op lies on one stage and reads only what is there";
  let description = [{[example: test/passes/3-place/verify-placed.mlir @placed]}];
  let statistics = [Statistic<"numOps", "ops", "ops checked">];
}
