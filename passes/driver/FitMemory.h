//===- FitMemory.h - weights to shard under --memory-limit (ZeRO) ---------===//

#ifndef PCC_PASSES_DRIVER_FITMEMORY_H
#define PCC_PASSES_DRIVER_FITMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Makes each rank meet `rank.memory_limit`, if set. Sets `pipe.max_held_bytes`
/// to 0, and if necessary lists weights to shard in `dist.divided` (ZeRO,
/// Rajbhandari et al. 2020). The last phase of `module` is 3-place. `runRest`
/// runs the rest on a copy. Returns exit code 6 if this is not enough.
Status fitMemory(mlir::ModuleOp module,
                 llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                 const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITMEMORY_H
