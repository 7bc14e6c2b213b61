//===- MemoryUse.h - memory that each rank needs --------------------------===//

#ifndef PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H
#define PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H

#include "mlir/IR/BuiltinOps.h"
#include "passes/7-emit/program/ProgramWriter.h"

#include <map>
#include <string>
#include <vector>

namespace pcc::emit {

/// Number of bytes of memory that one rank needs, divided into weights,
/// optimizer state and intermediate values. The numbers hold for all ranks with
/// the same index along the pipeline axis of the mesh, because these ranks run
/// the same pipeline stages.
struct PositionMemory {
  /// Bytes of one rank's shard of each weight. The key is the weight's name. If
  /// the rank holds a weight with two shardings, both shards count.
  std::map<std::string, int64_t> weights;
  /// Bytes of one rank's shard of the optimizer state.
  int64_t state = 0;
  /// Bytes of the arena, the memory of all values that a step computes.
  int64_t arena = 0;
  /// Number of bytes that gradients occupy in the arena. The arena is the
  /// memory of all values that a step computes. The number counts only the
  /// gradients that the rank keeps until the optimizer update, such as the
  /// gradient of a weight. The field `arena` includes this number.
  int64_t gradients = 0;
  /// Indices of the pipeline stages that one rank runs.
  std::vector<int> stages;

  /// Returns the bytes of one rank's shards of all weights.
  int64_t weightBytes() const;
  /// Returns the total number of bytes that the rank needs. This total is the
  /// sum of the bytes of the weights, of the optimizer state and of the arena.
  /// The arena is the memory of all values that a step computes.
  int64_t total() const { return weightBytes() + state + arena; }
};

/// Returns the memory that a rank needs to execute `program`. Does not set
/// PositionMemory::stages, the stages that the rank runs.
PositionMemory memoryOf(const PositionProgram &program);
/// Returns the memory that one rank needs, for each index along the pipeline
/// axis of the mesh. Element i of the result is the memory of each rank with
/// index i. These ranks execute `programs[i]`. `facts` tells which stages they
/// run.
std::vector<PositionMemory>
memoryOf(const ModelFacts &facts, const std::vector<PositionProgram> &programs);

/// Stores in `positions[i]` the memory that each rank with index i along the
/// pipeline axis needs. All passes of the phase 7-emit must have run on
/// `module`. Fails with exit code 3 if `module` lacks facts about the model, 4
/// if the target cannot run an op, and 1 if a memory plan is invalid.
Status memoryOf(mlir::ModuleOp module, std::vector<PositionMemory> &positions);

/// Returns exit code 6 if a rank needs more bytes than the attribute
/// `rank.memory_limit` of `module` allows. Succeeds if `module` has no such
/// attribute. `positions[i]` is the memory of a rank with index i along the
/// pipeline axis.
Status checkMemory(mlir::ModuleOp module,
                   llvm::ArrayRef<PositionMemory> positions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H
