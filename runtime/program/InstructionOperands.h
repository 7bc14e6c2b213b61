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
/// as indices into the list of buffers of the program. The list is empty for
/// instructions that only copy or fill, and for collectives that only move
/// values, such as an all-gather. Two instructions need a special rule:
///
/// - A collective may be split into a start and a finish. Only the finish has
///   the buffer of the result.
/// - Two kernels compute the gradients of an attention. On a GPU, one call of a
///   library may replace both kernels, at the place of the second kernel. The
///   list of the first kernel is therefore empty, and the list of the second
///   kernel has the result buffers of both kernels.
std::vector<int32_t>
computedBuffersOf(const program::InstructionT &instruction);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H
