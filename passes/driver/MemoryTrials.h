//===- MemoryTrials.h - memory of plans that are tried on copies ----------===//

#ifndef PCC_PASSES_DRIVER_MEMORYTRIALS_H
#define PCC_PASSES_DRIVER_MEMORYTRIALS_H

#include "mlir/IR/OwningOpRef.h"
#include "passes/7-emit/bundle/MemoryUse.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <vector>

namespace pcc {

/// Base class of the searches for a plan that meets --memory-limit. Measures
/// how much memory a change of the module needs: applies the change to a copy
/// and runs all later phases on the copy.
class MemoryTrials {
protected:
  /// Memory of each pipeline position (the stages that one rank runs), in the
  /// order of positions.
  using Positions = std::vector<emit::PositionMemory>;

  /// Prepares trials on copies of `module`. `runRest` runs the later phases on
  /// a copy, without diagnostics, and returns whether they succeed. `limit` is
  /// in bytes per rank.
  MemoryTrials(mlir::ModuleOp module,
               llvm::function_ref<bool(mlir::ModuleOp)> runRest, int64_t limit)
      : module(module), runRest(runRest), limit(limit) {}

  /// Applies `change` to a copy of the module, runs the later phases on the
  /// copy, and returns the memory of all pipeline positions (each the stages
  /// that one rank runs). Returns nullopt if a phase fails.
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
