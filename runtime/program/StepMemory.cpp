//===- StepMemory.cpp - memory that a rank needs for a step ---------------===//

#include "runtime/program/StepMemory.h"

namespace pcc::runtime {

/// Counts a parameter as optimizer state if `filled` is true: all its elements
/// begin with one value, such as 0. Counts all other parameters, whose elements
/// come from a file or are random, as weights.
RowMemory memoryOf(const program::ProgramT &program) {
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
