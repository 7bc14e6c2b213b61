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
/// - Each index of a buffer, a parameter, a kernel or a function is in range.
/// - Each buffer lies within its memory, such as the memory of intermediate
///   results. A buffer may have one copy for each microbatch. All copies lie
///   within the memory.
/// - The shapes, strides and offsets of each instruction stay within the
///   buffers of the instruction. The function does not examine the code of
///   kernels.
/// - Each division of a tensor over ranks fits the shape of the tensor and the
///   mesh.
/// - The program describes each communicator group by axes, or by factors of
///   axes. Each such axis or factor exists in the mesh. For example, a group
///   may use the factor 4 of an axis of size 8, but not the factor 3.
/// - Each value that one pipeline stage sends to another has a valid buffer,
///   and both stages exist.
/// - Each message between pipeline stages is begun exactly once. After that,
///   the program waits exactly once for the end of the message.
///
/// If a condition is violated, returns an error with exit code 11. The message
/// names the faulty part of the program.
Status verifyProgram(const program::ProgramT &program, int64_t constantBytes);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H
