//===- MemoryUse.h - what every rank has to hold --------------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H
#define PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/7-emit/program/ProgramWriter.h"

#include <map>
#include <string>
#include <vector>

namespace pcc::emit {

/// What each rank of one position holds, in bytes.
struct PositionMemory {
  /// By name; a weight that is held in two placements counts twice.
  std::map<std::string, int64_t> weights;
  /// What the optimizer keeps of weights.
  int64_t state = 0;
  int64_t arena = 0;
  /// The part of the arena that gradients take through the step.
  int64_t gradients = 0;
  /// The stages that it runs.
  std::vector<int> stages;

  int64_t weightBytes() const;
  int64_t total() const { return weightBytes() + state + arena; }
};

PositionMemory memoryOf(const PositionProgram &program);
/// Of all positions.
std::vector<PositionMemory>
memoryOf(const ModelFacts &facts, const std::vector<PositionProgram> &programs);

/// The same for a module that phase 7-emit has passed, by planning its
/// programs. Fails as `writePrograms` does.
runtime::Status memoryOf(mlir::ModuleOp module,
                         std::vector<PositionMemory> &positions);

/// Exit code 6 where a position, which the message names with its stages, holds
/// more than the module's limit.
runtime::Status checkMemory(mlir::ModuleOp module,
                            llvm::ArrayRef<PositionMemory> positions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H
