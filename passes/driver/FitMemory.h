//===- FitMemory.h - weights to shard under --memory-limit (ZeRO) ---------===//

#ifndef PCC_PASSES_DRIVER_FITMEMORY_H
#define PCC_PASSES_DRIVER_FITMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Changes the plan of `module` if it exceeds the memory limit
/// `rank.memory_limit`. Does nothing if there is no limit. The changes are:
///  - First, no values are kept in memory for all microbatches
///    (`pipe.max_held_bytes` = 0).
///  - If that is not enough, weights are stored sharded over the ranks that
///    would hold copies (ZeRO, Rajbhandari et al. 2020; FSDP). `dist.divided`
///    lists these weights. They must be gathered for use, so the choice keeps
///    the gathered bytes small.
///
/// `module` must have passed phase 3-place and no later phase. Memory is
/// measured on copies of `module`. `runRest` runs the phases 4-shard to 7-emit
/// on a copy, without diagnostics, and returns whether they succeed. If they
/// fail, no weight is chosen, and success is returned: the compilation of
/// `module` itself then reports the error.
///
/// Returns exit code 6 if some rank exceeds the limit even with all weights
/// sharded.
Status fitMemory(mlir::ModuleOp module,
                 llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                 const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITMEMORY_H
