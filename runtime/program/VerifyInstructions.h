//===- VerifyInstructions.h - the bounds of each kind of instruction ------===//

#ifndef PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H
#define PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H

#include "runtime/program/Layout.h"
#include "runtime/program/Program_generated.h"

#include <string>

namespace pcc::runtime {

/// What is wrong with an instruction, or empty. The program's mesh, buffers and
/// groups have been verified before.
std::string findInstructionFault(const program::ProgramT &program,
                                 const Mesh &mesh,
                                 const program::InstructionT &instruction);

/// What is wrong with a scalar, or empty.
std::string findScalarFault(const program::ScalarT &scalar, const Mesh &mesh);

/// What is wrong with a layout that is stored in a program, or empty; null
/// layouts are at fault.
std::string findStoredLayoutFault(const program::LayoutT *layout,
                                  const Mesh &mesh,
                                  const std::vector<int64_t> &shape);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H
