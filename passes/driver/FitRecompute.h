//===- FitRecompute.h - activation budgets under --memory-limit -----------===//

#ifndef PCC_PASSES_DRIVER_FITRECOMPUTE_H
#define PCC_PASSES_DRIVER_FITRECOMPUTE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Outcome.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// If `pipe.recompute` is auto, chooses how many bytes of activations each
/// pipeline position may keep, and records them in `pipe.activation_bytes`.
/// 6-schedule recomputes the rest in the backward pass (activation
/// checkpointing, Chen et al. 2016). The budgets are as large as
/// `rank.memory_limit` allows, so that little is recomputed. Without a limit,
/// sets the mode to none.
///
/// The module must have passed 5-localize, and no later phase. Memory is
/// measured on copies of the module: `runRest` runs the phases 6-schedule and
/// 7-emit on a copy, silently, and returns whether they succeed. Returns exit
/// code 6 if a position exceeds the limit even if all possible activations are
/// recomputed.
Outcome fitRecompute(mlir::ModuleOp module,
                     llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                     const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITRECOMPUTE_H
