//===- FitMemory.h - weights to shard under --memory-limit (ZeRO) ---------===//

#ifndef PCC_PASSES_DRIVER_FITMEMORY_H
#define PCC_PASSES_DRIVER_FITMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Outcome.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Chooses weights of `module` to store sharded over their replicas (ZeRO,
/// Rajbhandari et al. 2020; FSDP), if the module exceeds `rank.memory_limit`
/// without that. Records them in `dist.divided`. Sharded weights must be
/// gathered for use, so the choice also keeps the gathered bytes small. Before
/// it shards weights, the function forbids values that are held for all
/// microbatches (`pipe.max_held_bytes` = 0).
///
/// The module must have passed 3-place, and no later phase. Memory is measured
/// on copies of the module: `runRest` runs the phases 4-shard to 7-emit on a
/// copy, silently, and returns whether they succeed. If they fail, no weight is
/// chosen, because the real run reports the error. Returns exit code 6 if some
/// rank exceeds the limit even with all weights sharded. Without a limit, does
/// nothing.
Outcome fitMemory(mlir::ModuleOp module,
                  llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                  const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITMEMORY_H
