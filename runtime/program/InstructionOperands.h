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

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H
