//===- FitRecompute.h - activation budgets under --memory-limit -----------===//

#ifndef PCC_PASSES_DRIVER_FITRECOMPUTE_H
#define PCC_PASSES_DRIVER_FITRECOMPUTE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Sets `pipe.activation_bytes`, the bytes of activations that each rank keeps,
/// to meet `rank.memory_limit`. Ranks recompute the other activations (Chen et
/// al. 2016). Does nothing unless `pipe.recompute` is "auto". The phases up to
/// 5-localize, and no later ones, must have run on `module`. Returns exit code
/// 6 if even the recomputation of all activations does not meet the limit.
Status fitRecompute(mlir::ModuleOp module,
                    llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                    const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITRECOMPUTE_H
