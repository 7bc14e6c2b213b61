//===- VerifyProgram.h - memory safety of a program -----------------------===//

#ifndef PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H
#define PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H

#include "runtime/program/Layout.h"
#include "runtime/program/Program_generated.h"
#include "status/Status.h"

#include <cstdint>

namespace pcc::runtime {

/// Checks that executing the program accesses only the program's own memory:
///
/// - every index refers to an existing entry;
/// - every buffer lies within its memory, in all slots (one per microbatch);
/// - the shapes, strides and loops of every instruction lie within its buffers;
/// - layouts fit their shapes and the mesh;
/// - groups and transfers fit the mesh, and every message is posted (begun)
///   once and awaited once.
///
/// The FlatBuffers verifier must have accepted the tables, which may come from
/// an untrusted file. `constantBytes` is the size of the program's constants.
/// Exit code 11 with the name of the faulty entry.
Status verifyProgram(const program::ProgramT &program, int64_t constantBytes);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H
