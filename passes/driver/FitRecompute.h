//===- FitRecompute.h - activation budgets under --memory-limit -----------===//

#ifndef PCC_PASSES_DRIVER_FITRECOMPUTE_H
#define PCC_PASSES_DRIVER_FITRECOMPUTE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Chooses activation budgets, so that each rank meets the memory limit. An
/// activation budget is the number of bytes of activations that a rank may keep
/// for the backward pass. Phase 6-schedule makes the rank recompute all other
/// activations (activation checkpointing, Chen et al. 2016). A small budget
/// saves memory, but costs time. Therefore the function looks for large
/// budgets. The attribute `rank.memory_limit` is the memory limit in bytes.
///
/// A position is a group of ranks that run the same pipeline stages. All ranks
/// of a position have the same budget. Entry i of the attribute
/// `pipe.activation_bytes` is the budget of each rank of position i.
///
/// The attribute `pipe.recompute` determines the effect of this function:
///  - "auto", and there is a memory limit: sets `pipe.activation_bytes`.
///  - "auto", and there is no memory limit: sets `pipe.recompute` to "none".
///  - any other value: changes nothing.
///
/// `module` must have passed phase 5-localize and no later phase. To measure
/// the memory of a plan, the function calls `runRest` on a copy of `module`.
/// `runRest` runs the phases 6-schedule and 7-emit, without diagnostics, and
/// returns whether they succeed. `listener` receives notes for the user.
///
/// Returns exit code 6 if a rank exceeds the memory limit even with as much
/// recomputation as possible.
Status fitRecompute(mlir::ModuleOp module,
                    llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                    const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITRECOMPUTE_H
