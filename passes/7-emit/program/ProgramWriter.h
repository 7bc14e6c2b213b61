//===- ProgramWriter.h - writes the program of one pipeline rank ----------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
#define PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H

#include "passes/7-emit/program/ModelFacts.h"
#include "status/Status.h"

namespace pcc::emit {

/// Program that all ranks at one position execute, with the constants and the
/// kernels of the program. A position is a place in the pipeline: all ranks at
/// a position run the same stages.
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

/// Writes the program of the pipeline position `position` to `written`. A
/// position is a place in the pipeline: all ranks at a position execute the
/// same program. Leaves some members of the program unset:
///
///   - sizes, modification times and hashes of the weight files,
///   - hash of the kernels, and hash of the whole bundle,
///   - id of the compiler version.
///
/// The code that writes the bundle sets these members later. Returns exit code
/// 4 if the device cannot run an op. Returns exit code 1 if the check of the
/// memory plan fails. The check fails, for example, if two values that are live
/// at the same time overlap in memory.
Status writeProgram(const ModelFacts &facts, int position,
                    PositionProgram &written);

/// Writes the programs of all pipeline positions to `programs`. A position is a
/// place in the pipeline: all ranks at a position execute the same program.
/// Entry p of `programs` is the program of position p. Also sets `facts` to the
/// facts about `module` that all programs share, such as the list of model
/// inputs. Phase 7-emit must have run on `module`. Returns exit code 3 if a
/// fact, such as the list of model inputs, is missing in `module`. Returns the
/// exit code of writeProgram() if writeProgram() fails.
Status writePrograms(mlir::ModuleOp module, std::optional<ModelFacts> &facts,
                     std::vector<PositionProgram> &programs);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_PROGRAMWRITER_H
