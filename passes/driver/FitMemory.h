//===- FitMemory.h - weights to shard under --memory-limit (ZeRO) ---------===//

#ifndef PCC_PASSES_DRIVER_FITMEMORY_H
#define PCC_PASSES_DRIVER_FITMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Changes the plan of `module` so that each rank needs at most
/// `rank.memory_limit` bytes. Does nothing if `module` has no attribute
/// `rank.memory_limit`, or if the plan already meets the limit. Otherwise,
/// makes change 1. If the plan still exceeds the limit, makes change 2, too:
///  1. Sets `pipe.max_held_bytes` to 0. Some values are equal in all
///     microbatches, for example a weight that is gathered from its shards.
///     With this attribute, a rank does not keep such a value for several
///     microbatches, but gathers or computes the value again for each
///     microbatch.
///  2. Sets `dist.divided` to a list of weights. Ranks that would hold equal
///     copies of such a weight hold shards instead (ZeRO, Rajbhandari et al.
///     2020; FSDP).
///
/// Passes a note for the user about each change to `listener`. Skips change 1
/// if the attribute is already set or if there is only one microbatch.
///
/// `module` must have passed phase 3-place and no later phase. To measure the
/// memory of a plan, fitMemory() changes a copy of `module` and calls `runRest`
/// on the copy. `runRest` runs the phases 4-shard to 7-emit, without
/// diagnostics, and returns whether they succeed. If a phase fails, fitMemory()
/// shards no weight and returns success.
///
/// Returns exit code 6 if some rank exceeds the limit even with all weights
/// sharded.
Status fitMemory(mlir::ModuleOp module,
                 llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                 const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITMEMORY_H
