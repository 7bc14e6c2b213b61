//===- ProgramWriter.h - writes the program of one position ---------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
#define PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "runtime/base/Status.h"

namespace pcc::emit {

/// The program of one position, with its constants and kernels.
struct PositionProgram {
  /// The program in the form of the FlatBuffers schema
  /// (runtime/program/Program.fbs).
  program::ProgramT tables;
  /// Bytes of the constants that buffers point into.
  std::vector<std::byte> constants;
  /// Kernels that the program calls: entry n is the number within the module of
  /// the program's kernel n.
  std::vector<int> kernels;
  /// Bytes of the arena that hold gradients until the update, and sums of
  /// gradients over microbatches.
  int64_t gradientBytes = 0;
};

/// Writes the program of `position`. The descriptions of weight files and all
/// hashes stay empty. Returns exit code 4 if the device cannot run some ops,
/// which the message names, and 1 if the check of the arena fails.
runtime::Status writeProgram(const ModelFacts &facts, int position,
                             PositionProgram &written);

/// Reads the facts of a module that phase 7-emit has processed, and writes the
/// programs of all its positions, in order. Returns exit code 3 if the module
/// lacks a fact, else as writeProgram().
runtime::Status writePrograms(mlir::ModuleOp module,
                              std::optional<ModelFacts> &facts,
                              std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
