//===- Passes.td - passes of phase 7-emit --------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "turns chains of ops into kernels";
  let description = [{
    Element-wise, layout, indexing and reducing ops of every function become `rank.kernel` symbols, which `rank.launch` runs.
    Equal groups share one kernel, so that their number does not grow with layers. Products, convolutions, pools, scans,
    sorts, scatters, collectives and exchanges stay; attention becomes two products and a softmax.
    [example: test/passes/7-emit/form-kernels.mlir @a_chain_is_one_kernel]
  }];
  let statistics = [Statistic<"numKernels", "kernels", "different kernels">,
                    Statistic<"numLaunches", "launches", "launches of kernels">,
                    Statistic<"numOps", "ops", "ops that became part of a kernel">];
  let dependentDialects = ["::pcc::graph::GraphDialect", "::pcc::rank::RankDialect"];
}

def VerifyEmitted : Pass<"verify-emitted", "::mlir::ModuleOp"> {
  let summary = "gate: the loader's own verifier accepts the program of every position, whose arena holds what is alive";
  let description = [{
    Writes each program as the bundle will have it, apart from the facts about weight files.
    [example: test/passes/7-emit/verify-emitted.mlir @stage_0]
  }];
  let statistics = [Statistic<"numInstructions", "instructions", "instructions of all positions">,
                    Statistic<"arenaBytes", "bytes", "bytes of all positions' arenas">];
}
