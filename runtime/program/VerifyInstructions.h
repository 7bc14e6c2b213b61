//===- VerifyInstructions.h - bounds checks of instructions ---------------===//

#ifndef PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H
#define PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H

#include "runtime/program/Layout.h"
#include "runtime/program/Program_generated.h"

#include <string>

namespace pcc::runtime {

/// Checks an instruction of a program. An instruction is one operation, such as
/// a matmul, a copy or the call of a kernel. The buffers of the instruction
/// must exist. The shapes, strides and offsets of the instruction must stay
/// within these buffers. The function does not examine the code of kernels.
/// Returns a description of the fault, or an empty string.
///
/// The function uses the buffers, the parameters and the communicator groups of
/// `program`. These must already be verified.
std::string findInstructionFault(const program::ProgramT &program,
                                 const Mesh &mesh,
                                 const program::InstructionT &instruction);

/// Checks a scalar. A scalar is a number that an instruction computes at run
/// time, such as the offset of a slice. The number can differ between ranks and
/// between microbatches. The number is a constant plus a sum of terms. A term
/// is a coefficient times a coordinate. For example, the scalar 10 + 64 ·
/// (coordinate on the axis tp) is 202 on a rank with the coordinate 3 on tp.
/// The number is clamped to the range from `scalar.low` to `scalar.high`.
///
/// A term can use the coordinate on a mesh axis or on a factor of a mesh axis.
/// Each such axis or factor must exist in `mesh`. `scalar.low` must not exceed
/// `scalar.high`. Returns a description of the fault, or an empty string.
std::string findScalarFault(const program::ScalarT &scalar, const Mesh &mesh);

/// Checks a layout that was read from a program file. A layout describes how
/// the ranks divide a tensor. `shape` is the shape of the whole tensor. Returns
/// a description of the fault, or an empty string. A null pointer is a fault.
std::string findStoredLayoutFault(const program::LayoutT *layout,
                                  const Mesh &mesh,
                                  const std::vector<int64_t> &shape);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_VERIFYINSTRUCTIONS_H
