//===- FitRecompute.h - as much recomputation as memory asks for ----------===//

#ifndef PCC_PASSES_DRIVER_FITRECOMPUTE_H
#define PCC_PASSES_DRIVER_FITRECOMPUTE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Outcome.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Where `pipe.recompute` is auto, sets what the activations of each position
/// of `module`, which phase 5-localize has passed, may take
/// (`pipe.activation_bytes`): as much as leaves what a rank holds below
/// `rank.memory_limit`. That is measured on copies: `runRest` runs phases
/// 6-schedule and 7-emit on one, silently. Exit code 6 where a position takes
/// more whatever is recomputed.
Outcome fitRecompute(mlir::ModuleOp module,
                     llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                     const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITRECOMPUTE_H
