//===- ProgramWriter.h - the program of one position ----------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
#define PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "runtime/base/Status.h"

namespace pcc::emit {

/// What a position executes.
struct PositionProgram {
  program::ProgramT tables;
  std::vector<std::byte> constants;
  /// Kernels by their numbers in the module, in the order of the program's.
  std::vector<int> kernels;
  /// Of the arena: sums over microbatches, and gradients that wait for the
  /// update.
  int64_t gradientBytes = 0;
};

/// Writes the program of a position, apart from what describes weight files and
/// hashes. Fails where the device cannot run an op (exit code 4, all of them
/// named) and where the loader would refuse the result (1).
runtime::Status writeProgram(const ModelFacts &facts, int position,
                             PositionProgram &written);

/// The programs of all positions of a module that phase 7-emit has passed, and
/// the facts that they share. Fails as well where the module lacks any (3).
runtime::Status writePrograms(mlir::ModuleOp module,
                              std::optional<ModelFacts> &facts,
                              std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
