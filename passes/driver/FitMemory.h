//===- FitMemory.h - plans that stay below --memory-limit -----------------===//

#ifndef PCC_PASSES_DRIVER_FITMEMORY_H
#define PCC_PASSES_DRIVER_FITMEMORY_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/Outcome.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace pcc {

/// Chooses which weights of `module`, which phase 3-place has passed, are
/// stored divided (`dist.divided`), so that the weights and the arena of every
/// rank stay below `rank.memory_limit`, and few bytes are gathered for it. What
/// a plan takes is measured on copies: `runRest` runs phases 4-shard to 7-emit
/// on one, silently. Exit code 6 where even all weights divided take too much.
/// Without a limit nothing is done.
Outcome fitMemory(mlir::ModuleOp module,
                  llvm::function_ref<bool(mlir::ModuleOp)> runRest,
                  const Listener &listener);

} // namespace pcc

#endif // PCC_PASSES_DRIVER_FITMEMORY_H
