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
///  1. Sets the attribute `pipe.max_held_bytes` of `module` to 0. Some values
///     are equal in all microbatches. An example is a weight that is gathered
///     from its shards. Without the attribute, a rank may gather the weight
///     once per step, and keep the whole weight in memory for all microbatches.
///     With the attribute, the rank gathers the weight again for each
///     microbatch.
///  2. Sets the attribute `dist.divided` of `module` to a list of names of
///     weights. The compiler shards these weights. For example, 8 ranks hold
///     equal copies of a weight of 800 bytes. If the list contains the weight,
///     each rank holds a shard of 100 bytes (ZeRO, Rajbhandari et al. 2020;
///     FSDP).
///
/// Passes a note for the user about each change to `listener`. Skips change 1
/// if `module` already has the attribute `pipe.max_held_bytes`, or if there is
/// only one microbatch.
///
/// `module` must have passed phase 3-place of the compiler and no later phase.
/// The function tries several plans. To measure the memory of a plan, the
/// function changes a copy of `module` and calls `runRest` on the copy.
/// `runRest` runs the phases 4-shard to 7-emit, without diagnostics, and
/// returns whether they succeed.
///
/// If `runRest` fails, the function ends the search and returns success. The
/// compiler later runs the same phases on `module`. One of the phases then
/// fails again, and reports the error to the user.
///
/// Returns exit code 6 if some rank exceeds the limit even with all weights
/// sharded.
Status fitMemory(mlir::ModuleOp module,
                 llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                 const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITMEMORY_H
