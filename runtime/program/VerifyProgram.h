//===- VerifyProgram.h - what must hold for a program to be executed ------===//

#ifndef PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H
#define PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H

#include "runtime/base/Status.h"
#include "runtime/program/Layout.h"
#include "runtime/program/Program_generated.h"

#include <cstdint>

namespace pcc::runtime {

/// Checks that executing the program touches no memory but its own: every index
/// names something, every buffer lies within its memory in all slots, every
/// instruction's shapes, strides and loops lie within its buffers, layouts fit
/// their shapes and the mesh, groups and transfers fit the mesh. Says nothing
/// about what the program computes. Survives arbitrary tables, provided that
/// the FlatBuffers verifier has passed them. Errors have exit code 11 and name
/// the culprit.
Status verifyProgram(const program::ProgramT &program, int64_t constantBytes);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_VERIFYPROGRAM_H
