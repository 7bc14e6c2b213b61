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
/// optimizer state and intermediate values. The numbers hold for each rank at
/// one pipeline position. A position is a place in the pipeline. All ranks at
/// one position run the same pipeline stages, and therefore need the same
/// number of bytes.
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
/// Returns the memory that one rank needs, for each pipeline position. A
/// position is a place in the pipeline. All ranks at one position run the same
/// pipeline stages and need the same memory. `programs[i]` is the program that
/// the ranks at position i execute. Entry i of the result is the memory of one
/// of these ranks. `facts` tells which stages run at which position.
std::vector<PositionMemory>
memoryOf(const ModelFacts &facts, const std::vector<PositionProgram> &programs);

/// Stores in `positions[i]` the memory that one rank at pipeline position i
/// needs. A position is a place in the pipeline. All ranks at one position run
/// the same pipeline stages and need the same memory.
///
/// Creates the programs of all ranks in memory, but writes no file. All passes
/// of the last compiler phase (7-emit) must have run on `module`. Fails with
/// one of three exit codes:
///
///   - 3: `module` lacks information about the model.
///   - 4: The target device cannot run an op of `module`.
///   - 1: The check of a program's memory plan finds an error.
Status memoryOf(mlir::ModuleOp module, std::vector<PositionMemory> &positions);

/// Checks that no rank needs more memory than a limit allows. The attribute
/// `rank.memory_limit` of `module` is the limit in bytes. `positions[i]`
/// contains the numbers of bytes that each rank at pipeline position i needs
/// for weights, optimizer state and intermediate values. A position is a place
/// in the pipeline. The function compares the sum of these numbers with the
/// limit. Returns exit code 6 if the sum is larger than the limit at some
/// position. Returns success if `module` has no attribute `rank.memory_limit`.
Status checkMemory(mlir::ModuleOp module,
                   llvm::ArrayRef<PositionMemory> positions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_BUNDLE_MEMORYUSE_H
