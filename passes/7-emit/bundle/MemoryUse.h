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
  /// Bytes of the part of each weight that one rank holds, by the weight's
  /// name. If the pipeline position uses a weight with two shardings, the value
  /// is the sum of the bytes of both parts.
  std::map<std::string, int64_t> weights;
  /// Bytes of the part of the optimizer state that one rank holds.
  int64_t state = 0;
  /// Bytes of the arena, the memory that holds all values computed during a
  /// step.
  int64_t arena = 0;
  /// Bytes of the arena that hold gradients, or sums of gradients over
  /// microbatches, until the optimizer update. Included in `arena`.
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
/// `module` needs. The passes of phase 7-emit must have run on `module`. Builds
/// the programs of all positions only to measure them, and writes no file. Exit
/// codes are those of writePrograms().
Status memoryOf(mlir::ModuleOp module, std::vector<PositionMemory> &positions);

/// Returns exit code 6 if a rank of any pipeline position holds more bytes than
/// the attribute `rank.memory_limit` of `module` allows. The message names the
/// position and its stages. Returns success for a module without that
/// attribute.
Status checkMemory(mlir::ModuleOp module,
                   llvm::ArrayRef<PositionMemory> positions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H
