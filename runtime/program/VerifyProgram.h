//===- VerifyProgram.h - memory safety of a program -----------------------===//

#ifndef PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H
#define PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H

#include "runtime/program/Layout.h"
#include "runtime/program/Program_generated.h"
#include "status/Status.h"

#include <cstdint>

namespace pcc::runtime {

/// Largest number of bytes of a tensor, and of the intermediate results of a
/// rank: 64 TiB. The limit keeps later arithmetic from overflowing.
inline constexpr int64_t kMaxBytes = int64_t(1) << 46;

/// Checks that a program, possibly from an untrusted file, accesses only its
/// own memory. The FlatBuffers verifier must have accepted the program.
/// `constantBytes` is the size of the constant tensors. All indices must be in
/// range. Each buffer must lie within its memory, and each instruction must
/// stay within its buffers. The code of kernels is not examined. The divisions
/// of tensors and the communicator groups must fit the mesh. Each message
/// between pipeline stages must be begun exactly once, and then waited for
/// exactly once. If a condition is violated, returns an error with exit code
/// 11.
Status verifyProgram(const program::ProgramT &program, int64_t constantBytes);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H
