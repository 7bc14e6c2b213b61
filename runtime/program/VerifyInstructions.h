//===- VerifyInstructions.h - bounds checks of instructions ---------------===//

#ifndef PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H
#define PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H

#include "runtime/program/Layout.h"
#include "runtime/program/Program_generated.h"

#include <string>

namespace pcc::runtime {

/// Checks that an instruction accesses only memory of its buffers. Returns a
/// description of the first fault, or an empty string. All other lists of the
/// program, such as buffers and groups, must already be verified.
std::string findInstructionFault(const program::ProgramT &program,
                                 const Mesh &mesh,
                                 const program::InstructionT &instruction);

/// Checks a scalar (an offset that depends on the rank and the microbatch): its
/// sub-axes are in the mesh, and its range [low, high] is not empty. Returns a
/// description of the fault, or an empty string.
std::string findScalarFault(const program::ScalarT &scalar, const Mesh &mesh);

/// Checks a stored layout of a tensor of global `shape`. Returns a description
/// of the fault, or an empty string. A null layout is a fault.
std::string findStoredLayoutFault(const program::LayoutT *layout,
                                  const Mesh &mesh,
                                  const std::vector<int64_t> &shape);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H
