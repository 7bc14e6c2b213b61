//===- StepMemory.h - memory that a rank needs for a step -----------------===//

#ifndef PCC_RUNTIME_PROGRAM_STEPMEMORY_H
#define PCC_RUNTIME_PROGRAM_STEPMEMORY_H

#include "runtime/program/Program.h"
#include "runtime/timeline/TimelineMemory.h"

namespace pcc::runtime {

/// Returns the memory that a rank needs to execute `program`: weights,
/// optimizer state and arena, and the part of the arena that each action uses.
/// All displays of memory use these numbers. A parameter is optimizer state if
/// `filled` is true: all its elements begin with one value, such as 0. All
/// other parameters, whose elements come from a file or are random, are
/// weights.
inline RowMemory memoryOf(const program::ProgramT &program) {
  RowMemory memory;
  for (const auto &parameter : program.parameters)
    (parameter->filled ? memory.state : memory.weights) +=
        parameter->local_bytes;
  memory.arena = program.arena_bytes;
  for (const auto &action : program.actions)
    if (action->function >= 0)
      memory.actions.push_back({action->bytes_during, action->bytes_after,
                                action->gradients_during,
                                action->gradients_after});
  return memory;
}

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_STEPMEMORY_H
