//===- InstructionOperands.h - buffer operands of instructions ------------===//

#ifndef PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H
#define PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H

#include "runtime/program/Program_generated.h"

#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// Returns the indices of all buffers that the instruction names, in the order
/// of its fields. Buffers that are read and buffers that are written are in one
/// list. A buffer that is named twice is listed twice.
std::vector<int32_t> buffersOf(const program::InstructionT &instruction);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H
