//===- InstructionOperands.h - buffer operands of instructions ------------===//

#ifndef PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H
#define PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H

#include "runtime/program/Program_generated.h"

#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// Returns the buffers that `instruction` reads or writes. Each buffer is given
/// as an index into the list of buffers of the program. The result has the
/// order of the fields of the instruction. Fields without a buffer are skipped.
/// If two fields contain the same buffer, the result contains the buffer twice.
std::vector<int32_t> buffersOf(const program::InstructionT &instruction);

/// Returns the buffers in which `instruction` writes values that it computes,
/// as indices into the list of buffers of the program. Instructions that only
/// copy or fill, and collectives that only move values, have none. A collective
/// of two parts has its result when the second part has run. On a GPU, a
/// library may leave out the first of two kernels for the gradients of an
/// attention; the result of the first one counts as one of the second.
std::vector<int32_t>
computedBuffersOf(const program::InstructionT &instruction);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H
