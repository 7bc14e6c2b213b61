//===- VerifyInstructions.h - bounds checks of instructions ---------------===//

#ifndef PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H
#define PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H

#include "runtime/program/Layout.h"
#include "runtime/program/Program_generated.h"

#include <string>

namespace pcc::runtime {

/// Checks that an instruction accesses only memory of its buffers. Returns a
/// description of the first fault, or an empty string. The program's mesh,
/// buffers, parameters, inputs and groups must have been verified before.
std::string findInstructionFault(const program::ProgramT &program,
                                 const Mesh &mesh,
                                 const program::InstructionT &instruction);

/// Checks that the sub-axes of a scalar exist in the mesh and that its range
/// [low, high] is not empty. Returns a description of the fault, or an empty
/// string.
std::string findScalarFault(const program::ScalarT &scalar, const Mesh &mesh);

/// Checks a stored layout of a tensor of global `shape`. Returns a description
/// of the fault, or an empty string. A null layout is a fault.
std::string findStoredLayoutFault(const program::LayoutT *layout,
                                  const Mesh &mesh,
                                  const std::vector<int64_t> &shape);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H
