//===- FitRecompute.h - activation budgets under --memory-limit -----------===//

#ifndef PCC_PASSES_DRIVER_FITRECOMPUTE_H
#define PCC_PASSES_DRIVER_FITRECOMPUTE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Does nothing unless `pipe.recompute` is auto. Otherwise chooses an
/// activation budget for each pipeline position (the stages that one rank
/// runs): the bytes of activations that it may keep. Records the budgets in
/// `pipe.activation_bytes`. Phase 6-schedule recomputes all other activations
/// in the backward pass (activation checkpointing, Chen et al. 2016). The
/// budgets are as large as `rank.memory_limit` allows, so that little is
/// recomputed. If there is no limit, sets `pipe.recompute` to none.
///
/// `module` must have passed phase 5-localize and no later phase. Memory is
/// measured on copies of `module`. `runRest` runs the phases 6-schedule and
/// 7-emit on a copy, without diagnostics, and returns whether they succeed.
/// Returns exit code 6 if a position exceeds the limit even when as much as
/// possible is recomputed.
Status fitRecompute(mlir::ModuleOp module,
                    llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                    const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITRECOMPUTE_H
