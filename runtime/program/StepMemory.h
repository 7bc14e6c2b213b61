//===- StepMemory.h - memory that a rank needs for a step -----------------===//

#ifndef PCC_RUNTIME_PROGRAM_STEPMEMORY_H
#define PCC_RUNTIME_PROGRAM_STEPMEMORY_H

#include "runtime/program/Program.h"
#include "runtime/timeline/TimelineMemory.h"

namespace pcc::runtime {

/// Returns the memory that a rank needs to execute `program`: weights,
/// optimizer state and arena, and the part of the arena that each action uses.
/// All displays of memory use these numbers.
RowMemory memoryOf(const program::ProgramT &program);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_STEPMEMORY_H
