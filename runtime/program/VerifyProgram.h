//===- VerifyProgram.h - memory safety of a program -----------------------===//

#ifndef PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H
#define PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H

#include "runtime/program/Layout.h"
#include "runtime/program/Program_generated.h"
#include "status/Status.h"

#include <cstdint>

namespace pcc::runtime {

/// Checks that a program accesses only its own memory. The program may come
/// from an untrusted file. The FlatBuffers verifier must have accepted the
/// file. `constantBytes` is the number of bytes of the program's constant
/// tensors. A valid program satisfies these conditions:
///
/// - Each index that refers to a buffer, a parameter, a kernel or a function
///   refers to an existing one.
/// - Each buffer lies within its memory, such as the memory of intermediate
///   results. A buffer may have one copy for each microbatch. All copies lie
///   within the memory.
/// - The shapes, strides and loops of each instruction stay within the buffers
///   of the instruction.
/// - Each division of a tensor over ranks fits the shape of the tensor and the
///   mesh.
/// - Each communicator group consists of ranks that differ only along axes of
///   the mesh, or along factors of axes.
/// - Each value that one pipeline stage sends to another has a valid buffer,
///   and both stages exist.
/// - Each message between pipeline stages is begun exactly once, and its end is
///   awaited exactly once.
///
/// If a condition is violated, returns an error with exit code 11. The message
/// names the faulty part of the program.
Status verifyProgram(const program::ProgramT &program, int64_t constantBytes);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H
