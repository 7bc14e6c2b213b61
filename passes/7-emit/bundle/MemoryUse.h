//===- MemoryUse.h - memory that each rank needs --------------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H
#define PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/7-emit/program/ProgramWriter.h"

#include <map>
#include <string>
#include <vector>

namespace pcc::emit {

/// Bytes that each rank of one position holds, by purpose.
struct PositionMemory {
  /// Local bytes of each weight by name. A weight in two placements counts
  /// twice.
  std::map<std::string, int64_t> weights;
  /// Bytes of the optimizer state.
  int64_t state = 0;
  /// Bytes of the arena.
  int64_t arena = 0;
  /// Bytes of the arena that hold gradients until the update.
  int64_t gradients = 0;
  /// Stages of the position.
  std::vector<int> stages;

  /// Returns the bytes of all weights.
  int64_t weightBytes() const;
  /// Returns the bytes of weights, optimizer state and arena.
  int64_t total() const { return weightBytes() + state + arena; }
};

/// Returns the memory of one position from its program; `stages` is empty.
PositionMemory memoryOf(const PositionProgram &program);
/// Returns the memory of all positions, in order.
std::vector<PositionMemory>
memoryOf(const ModelFacts &facts, const std::vector<PositionProgram> &programs);

/// Returns in `positions` the memory of a module that phase 7-emit has
/// processed. Writes the programs only to measure them. Exit codes are those of
/// writePrograms().
runtime::Status memoryOf(mlir::ModuleOp module,
                         std::vector<PositionMemory> &positions);

/// Returns exit code 6 if a rank of some position holds more bytes than the
/// module's `rank.memory_limit`. The message names the position and its stages.
/// Without a limit every module passes.
runtime::Status checkMemory(mlir::ModuleOp module,
                            llvm::ArrayRef<PositionMemory> positions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H
