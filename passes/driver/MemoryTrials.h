//===- MemoryTrials.h - memory of plans that are tried on copies ----------===//

#ifndef PCC_PASSES_DRIVER_MEMORYTRIALS_H
#define PCC_PASSES_DRIVER_MEMORYTRIALS_H

#include "mlir/IR/OwningOpRef.h"
#include "passes/7-emit/bundle/MemoryUse.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace pcc {

/// Base class of the searches for a plan that meets --memory-limit. A trial
/// changes a copy of the module, runs on it all phases that the module has not
/// passed, and measures the memory of each rank.
class MemoryTrials {
protected:
  /// Memory of each pipeline position (the stages that one rank runs), in the
  /// order of positions.
  using Positions = std::vector<emit::PositionMemory>;

  /// Prepares trials on copies of `module`. `runRest` runs on a copy all phases
  /// that `module` has not passed, without diagnostics. It returns whether they
  /// succeed. `limit` is the largest memory that a rank may need, in bytes.
  MemoryTrials(mlir::ModuleOp module,
               llvm::function_ref<bool(mlir::ModuleOp)> runRest, int64_t limit)
      : module(module), runRest(runRest), limit(limit) {}

  /// Applies `change` to a copy of the module and runs on it all phases that
  /// the module has not passed. Returns the memory of each pipeline position
  /// (the stages that one rank runs); nullopt if a phase fails.
  std::optional<Positions>
  measureWith(llvm::function_ref<void(mlir::ModuleOp)> change) const {
    mlir::OwningOpRef<mlir::ModuleOp> copy =
        mlir::cast<mlir::ModuleOp>(module->clone());
    change(*copy);
    Positions positions;
    if (!runRest(*copy) || emit::memoryOf(*copy, positions).failed())
      return std::nullopt;
    return positions;
  }

  mlir::ModuleOp module;
  llvm::function_ref<bool(mlir::ModuleOp)> runRest;
  /// Memory limit per rank in bytes.
  int64_t limit;
};

} // namespace pcc

#endif // PCC_PASSES_DRIVER_MEMORYTRIALS_H
