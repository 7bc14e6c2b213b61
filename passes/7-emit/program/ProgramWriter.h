//===- ProgramWriter.h - writes the program of one position ---------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
#define PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "status/Status.h"

namespace pcc::emit {

/// Program that all ranks of one position (virtual pipeline rank) execute, with
/// its constants and kernels.
struct PositionProgram {
  /// Instructions, buffers and other tables of the program, as structs of the
  /// FlatBuffers schema runtime/program/Program.fbs.
  program::ProgramT tables;
  /// Bytes of the program's constants. The offset of a buffer in constant
  /// memory is an offset into these bytes.
  std::vector<std::byte> constants;
  /// Kernels that the program calls: entry i is the number, in the module, of
  /// the program's kernel i.
  std::vector<int> kernels;
  /// Bytes of the arena (memory of intermediate values) that hold gradients
  /// until the optimizer update, or sums of gradients over microbatches.
  int64_t gradientBytes = 0;
};

/// Writes the program of `position` (virtual pipeline rank) to `written`.
/// Leaves the descriptions of weight files and all hashes empty. Returns exit
/// code 4 if the device cannot run some ops; the message names these ops.
/// Returns exit code 1 if the check of the arena (memory plan) fails.
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
