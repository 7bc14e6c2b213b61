//===- Passes.td - passes of phase 7-emit --------------------*- tablegen -*-===//

include "mlir/Pass/PassBase.td"

def LowerForGpus : Pass<"lower-for-gpus", "::mlir::func::FuncOp"> {
  let summary = "turns ops that GPUs have no library for into products and ops of kernels";
  let description = [{
    For the target `cuda` only. Convolutions become products of filters and columns that a kernel gathers, pools reductions of
    windows; top-k, running sums, scatters and the rows of experts become reductions that compare positions, which a kernel
    does without ever writing the pairs. [example: test/passes/7-emit/lower-for-gpus.mlir @a_convolution_is_a_product]
  }];
  let statistics = [Statistic<"numLowered", "ops", "ops that became others">];
  let dependentDialects = ["::pcc::graph::GraphDialect"];
}

def FormLibraryCalls : Pass<"form-library-calls", "::mlir::func::FuncOp"> {
  let summary = "lets libraries do what surrounds products and convolutions";
  let description = [{
    A bias, an activation and a residual behind a product or a convolution, and the order of a product's operands and result,
    become part of one `rank.library_call` where the library has them, as do sums over microbatches and the sums of a factor
    over what is contracted. Attention becomes two products and a softmax before, but for GPUs, which have a kernel for it;
    an einsum products of two operands.
    [example: test/passes/7-emit/form-library-calls.mlir @a_bias_and_an_activation]
  }];
  let statistics = [Statistic<"numCalls", "calls", "library calls that do more than a contraction">,
                    Statistic<"numOps", "ops", "ops that became part of a library call">];
  let dependentDialects = ["::pcc::graph::GraphDialect", "::pcc::rank::RankDialect"];
}

def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "turns chains of ops into kernels";
  let description = [{
    Element-wise, layout, indexing and reducing ops of every function become `rank.kernel` symbols, which `rank.launch` runs;
    attention that is still there becomes one of its own, with the order of its operands and its result.
    Resizes become gathers and weighted sums before, and, for GPUs, reductions of long rows two. Equal groups share one kernel, so that their number does not grow with
    layers. For GPUs, what functions that run once per step do with tensor after tensor is one launch of many parts. Products, convolutions, library calls, pools, scans, sorts, scatters, collectives and exchanges stay.
    [example: test/passes/7-emit/form-kernels.mlir @a_chain_is_one_kernel]
  }];
  let statistics = [Statistic<"numKernels", "kernels", "different kernels">,
                    Statistic<"numLaunches", "launches", "launches of kernels">,
                    Statistic<"numJoined", "joined", "launches that others do the work of">,
                    Statistic<"numOps", "ops", "ops that became part of a kernel">];
  let dependentDialects = ["::pcc::graph::GraphDialect", "::pcc::rank::RankDialect"];
}

def VerifyEmitted : Pass<"verify-emitted", "::mlir::ModuleOp"> {
  let summary = "gate: the loader's own verifier accepts the program of every position, whose arena holds what is alive";
  let description = [{
    Writes each program as the bundle will have it, apart from the facts about weight files, and refuses programs whose ranks
    might wait for each other forever in calls of communicators.
    [example: test/passes/7-emit/verify-emitted.mlir @stage_0]
  }];
  let statistics = [Statistic<"numInstructions", "instructions", "instructions of all positions">,
                    Statistic<"arenaBytes", "bytes", "bytes of all positions' arenas">];
}
