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
  /// Bytes of the program's constants. Buffers of constants have offsets into
  /// these bytes.
  std::vector<std::byte> constants;
  /// Kernels that the program calls, by their numbers in the module. Example:
  /// [7, 2] if kernel 0 of the program is kernel 7 of the module, and kernel 1
  /// of the program is kernel 2 of the module.
  std::vector<int> kernels;
  /// Bytes of gradients in the arena (memory of intermediate values) that are
  /// kept until the optimizer update.
  int64_t gradientBytes = 0;
};

/// Writes the program of one position (virtual pipeline rank), without hashes
/// and without facts about weight files. Returns exit code 4 if the device
/// cannot run an op, and 1 if the check of the memory plan fails.
Status writeProgram(const ModelFacts &facts, int position,
                    PositionProgram &written);

/// Reads the facts of `module`, and writes the programs of all pipeline
/// positions in order. Phase 7-emit must have run. Returns exit code 3 if the
/// module lacks a fact. Other exit codes are those of writeProgram().
Status writePrograms(mlir::ModuleOp module, std::optional<ModelFacts> &facts,
                     std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
