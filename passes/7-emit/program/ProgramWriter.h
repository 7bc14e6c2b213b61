//===- ProgramWriter.h - writes the program of one position ---------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
#define PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "status/Status.h"

namespace pcc::emit {

/// Program that all ranks of one position (virtual pipeline rank) execute, with
/// its constants and kernels.
struct PositionProgram {
  /// The program's instructions, buffers and other tables, in the form of the
  /// FlatBuffers schema runtime/program/Program.fbs.
  program::ProgramT tables;
  /// Bytes of the program's constants. Buffers in constant memory are offsets
  /// into them.
  std::vector<std::byte> constants;
  /// Kernels that the program calls. The program's kernel i is kernel number
  /// kernels[i] of the module.
  std::vector<int> kernels;
  /// Bytes of the arena that hold gradients until the update, or sums of
  /// gradients over microbatches.
  int64_t gradientBytes = 0;
};

/// Writes the program of `position` (virtual pipeline rank) to `written`.
/// Leaves the descriptions of weight files and all hashes empty. Returns exit
/// code 4 if the device cannot run some ops, which the message names. Returns
/// exit code 1 if the check of the arena fails.
Status writeProgram(const ModelFacts &facts, int position,
                    PositionProgram &written);

/// Reads the facts of `module`, which phase 7-emit must have processed, and
/// writes the programs of all pipeline positions to `programs`, in order.
/// Returns exit code 3 if the module lacks a fact. Other exit codes are those
/// of writeProgram().
Status writePrograms(mlir::ModuleOp module, std::optional<ModelFacts> &facts,
                     std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
