//===- InstructionOperands.h - which buffers an instruction touches -------===//

#ifndef PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H
#define PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H

#include "runtime/program/Program_generated.h"

#include <cstdint>
#include <vector>

namespace pcc::runtime {

/// All buffers that the instruction names, in the order of its fields, absent
/// optional ones left out. A kernel does not say which it writes.
std::vector<int32_t> buffersOf(const program::InstructionT &instruction);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_INSTRUCTIONOPERANDS_H
