//===- MemoryUse.h - memory that each rank needs --------------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H
#define PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/7-emit/program/ProgramWriter.h"

#include <map>
#include <string>
#include <vector>

namespace pcc::emit {

/// Bytes that each rank of one position (virtual pipeline rank) holds, by
/// purpose.
struct PositionMemory {
  /// For each weight, by name, the bytes of the part that one rank holds. A
  /// weight that the pipeline position uses with two shardings has two parts,
  /// which are added.
  std::map<std::string, int64_t> weights;
  /// Bytes of the optimizer state.
  int64_t state = 0;
  /// Bytes of the arena, the memory that holds all values computed during a
  /// step.
  int64_t arena = 0;
  /// Bytes of the arena that hold gradients until the update, or their sums
  /// over microbatches. Included in `arena`.
  int64_t gradients = 0;
  /// Indices of the stages that the pipeline position runs.
  std::vector<int> stages;

  /// Returns the bytes of all weights.
  int64_t weightBytes() const;
  /// Returns the bytes of weights, optimizer state and arena.
  int64_t total() const { return weightBytes() + state + arena; }
};

/// Returns the memory that each rank of one pipeline position needs, read from
/// the position's program. Leaves `stages` empty.
PositionMemory memoryOf(const PositionProgram &program);
/// Returns the memory that each rank of each pipeline position needs, indexed
/// by position. `programs` has one entry per position.
std::vector<PositionMemory>
memoryOf(const ModelFacts &facts, const std::vector<PositionProgram> &programs);

/// Sets `positions` to the memory that each rank of each pipeline position of
/// `module` needs. Phase 7-emit must have processed `module`. Writes the
/// programs in memory, only to measure them. Exit codes are those of
/// writePrograms().
Status memoryOf(mlir::ModuleOp module, std::vector<PositionMemory> &positions);

/// Returns exit code 6 if a rank of any pipeline position holds more bytes than
/// the attribute `rank.memory_limit` of `module` allows. The message names the
/// position and its stages. Returns success for a module without that
/// attribute.
Status checkMemory(mlir::ModuleOp module,
                   llvm::ArrayRef<PositionMemory> positions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H
