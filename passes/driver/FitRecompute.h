//===- FitRecompute.h - activation budgets under --memory-limit -----------===//

#ifndef PCC_PASSES_DRIVER_FITRECOMPUTE_H
#define PCC_PASSES_DRIVER_FITRECOMPUTE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Listener.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Sets `pipe.activation_bytes`: the bytes of activations that each pipeline
/// position (the stages that one rank runs) may keep. Phase 6-schedule
/// recomputes all other activations (activation checkpointing, Chen et al.
/// 2016). The values are as large as the memory limit, `rank.memory_limit`,
/// allows.
///
/// Does nothing unless `pipe.recompute` is auto. Without a memory limit, sets
/// `pipe.recompute` to none.
///
/// `module` must have passed phase 5-localize and no later phase. Trials on
/// copies of `module` measure the memory. `runRest` runs the phases 6-schedule
/// and 7-emit on a copy, without diagnostics, and returns whether they succeed.
///
/// Returns exit code 6 if a position exceeds the limit even with as much
/// recomputation as possible.
Status fitRecompute(mlir::ModuleOp module,
                    llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                    const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITRECOMPUTE_H
