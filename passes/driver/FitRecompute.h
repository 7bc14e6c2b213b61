//===- FitRecompute.h - activation budgets under --memory-limit -----------===//

#ifndef PCC_PASSES_DRIVER_FITRECOMPUTE_H
#define PCC_PASSES_DRIVER_FITRECOMPUTE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Chooses how many bytes of activations each rank keeps for the backward pass,
/// so that the rank meets `rank.memory_limit`. The rank recomputes all other
/// activations (Chen et al. 2016). Entry i of `pipe.activation_bytes` becomes
/// the budget of position i, a group of ranks that run the same pipeline
/// stages. Acts only if `pipe.recompute` is "auto". Without a memory limit,
/// sets `pipe.recompute` to "none". `module` must have passed phase 5-localize
/// and no later phase. `runRest` runs the phases 6-schedule and 7-emit on a
/// copy, without diagnostics. `listener` receives notes for the user. Returns
/// exit code 6 if full recomputation is not enough.
Status fitRecompute(mlir::ModuleOp module,
                    llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                    const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITRECOMPUTE_H
