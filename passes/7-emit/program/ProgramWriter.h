//===- ProgramWriter.h - writes the program of one pipeline rank ----------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
#define PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "status/Status.h"

namespace pcc::emit {

/// Program of one pipeline rank, with its constants and kernels. All ranks that
/// run the same pipeline stages execute this program.
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
  /// Number of bytes that one rank needs for the gradients that it keeps until
  /// the optimizer update. Counts only gradients in the arena. The arena is the
  /// memory of intermediate values.
  int64_t gradientBytes = 0;
};

/// Writes the program of the pipeline rank `position` to `written`. Leaves
/// hashes, the compiler version, and the sizes and times of weight files unset.
/// The code that writes the bundle sets them. Returns exit code 4 if the device
/// cannot run an op, and 1 if the memory plan is invalid.
Status writeProgram(const ModelFacts &facts, int position,
                    PositionProgram &written);

/// Writes the program of each pipeline rank to `programs`, and the facts that
/// all programs share to `facts`. Phase 7-emit must have run on `module`.
/// Returns exit code 3 if `module` lacks a fact, such as the list of model
/// inputs. Returns the error of writeProgram() if that fails.
Status writePrograms(mlir::ModuleOp module, std::optional<ModelFacts> &facts,
                     std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
