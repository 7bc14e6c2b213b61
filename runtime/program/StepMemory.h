//===- StepMemory.h - memory that a rank needs for a step -----------------===//

#ifndef PCC_RUNTIME_PROGRAM_STEPMEMORY_H
#define PCC_RUNTIME_PROGRAM_STEPMEMORY_H

#include "runtime/program/Program.h"
#include "runtime/timeline/TimelineMemory.h"

namespace pcc::runtime {

/// Returns whether `parameter` is optimizer state and not a weight: it belongs
/// to a weight (`state_of`), or all its elements begin with one value, such as
/// 0 (`filled`). Elements of a weight come from a file or are random, as do
/// those of states that a TrainingInfo of ONNX brings.
inline bool isState(const program::ParameterT &parameter) {
  return parameter.filled || !parameter.state_of.empty();
}

/// Returns the memory that a rank needs to execute `program`: weights,
/// optimizer state and arena, and the part of the arena that each action uses.
/// All displays of memory use these numbers.
inline RowMemory memoryOf(const program::ProgramT &program) {
  RowMemory memory;
  for (const auto &parameter : program.parameters)
    (isState(*parameter) ? memory.state : memory.weights) +=
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
