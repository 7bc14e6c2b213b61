//===- FitMemory.h - weights to shard under --memory-limit (ZeRO) ---------===//

#ifndef PCC_PASSES_DRIVER_FITMEMORY_H
#define PCC_PASSES_DRIVER_FITMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Changes the plan of `module` so that no rank needs more than
/// `rank.memory_limit` bytes. Does nothing without this attribute. Tries the
/// first change alone, then both:
///  - Sets `pipe.max_held_bytes` to 0. A rank then keeps no value, such as a
///    gathered weight, from one microbatch to the next.
///  - Sets `dist.divided` to a list of weights. Ranks that would hold copies of
///    such a weight hold shards instead (ZeRO, Rajbhandari et al. 2020; FSDP).
///
/// `module` must have passed phase 3-place and no later phase. Trials on copies
/// of `module` measure the memory. `runRest` runs the phases 4-shard to 7-emit
/// on a copy, without diagnostics, and returns whether they succeed. If a trial
/// fails, fitMemory() shards no weight and returns success.
///
/// Returns exit code 6 if some rank exceeds the limit even with all weights
/// sharded.
Status fitMemory(mlir::ModuleOp module,
                 llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                 const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITMEMORY_H
