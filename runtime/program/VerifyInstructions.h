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

/// Checks a scalar. A scalar is a number that an instruction computes at run
/// time from the rank's coordinates and the number of the microbatch. An
/// example is the offset of a slice. A sub-axis is a factor of a mesh axis,
/// such as the factor 2 of an axis of size 8. Every sub-axis in the scalar must
/// exist in the mesh. The value of the scalar is clamped to [low, high], so
/// `low` must not exceed `high`. Returns a description of the fault, or an
/// empty string.
std::string findScalarFault(const program::ScalarT &scalar, const Mesh &mesh);

/// Checks a layout that was read from a program file. A layout describes how
/// the ranks divide a tensor. `shape` is the shape of the whole tensor. Returns
/// a description of the fault, or an empty string. A null pointer is a fault.
std::string findStoredLayoutFault(const program::LayoutT *layout,
                                  const Mesh &mesh,
                                  const std::vector<int64_t> &shape);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H
