//===- FitMemory.h - weights to shard under --memory-limit (ZeRO) ---------===//

#ifndef PCC_PASSES_DRIVER_FITMEMORY_H
#define PCC_PASSES_DRIVER_FITMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Changes the plan of `module` so that each rank needs at most
/// `rank.memory_limit` bytes (if set), and tells `listener`. First sets
/// `pipe.max_held_bytes` to 0: a rank gathers or computes values that all
/// microbatches share again in each microbatch. If necessary, also lists
/// weights in `dist.divided`, of which ranks then hold shards (ZeRO,
/// Rajbhandari et al. 2020; FSDP). `module` must have passed phase 3-place and
/// no later phase. `runRest` runs the phases 4-shard to 7-emit on a copy. If
/// `runRest` fails, returns success, because the compiler later reports the
/// error. Returns exit code 6 if shards of all weights are not enough.
Status fitMemory(mlir::ModuleOp module,
                 llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                 const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITMEMORY_H
