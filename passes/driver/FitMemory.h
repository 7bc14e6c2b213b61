//===- FitMemory.h - weights to shard under --memory-limit (ZeRO) ---------===//

#ifndef PCC_PASSES_DRIVER_FITMEMORY_H
#define PCC_PASSES_DRIVER_FITMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Makes each rank meet `rank.memory_limit`, if set. If a rank needs too much
/// memory, sets `pipe.max_held_bytes` to 0. If this is not enough, also sets
/// `dist.divided` to a list of weights to shard (ZeRO, Rajbhandari et al.
/// 2020). The phases up to 3-place, and no later ones, must have run on
/// `module`. `runRest` runs the later phases on a copy of the module, to find
/// the memory that the ranks need. Returns exit code 6 if a rank needs too much
/// memory even after all weights are sharded.
Status fitMemory(mlir::ModuleOp module,
                 llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                 const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITMEMORY_H
