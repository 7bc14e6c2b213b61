//===- StepLog.cpp - log of the actions of one step on one rank -----------===//

#include "runtime/engine/observe/StepLog.h"

#include <algorithm>
#include <ctime>

namespace pcc::runtime {

using program::ActionKind;

/// Returns whether the activations of a microbatch are no longer needed in a
/// pipeline stage after `action`. The forward pass of the microbatch has stored
/// these activations. There are two kinds of actions that use them last:
///
/// - Backward: a whole backward pass, which computes all gradients.
/// - WeightGradient: the second half of a backward pass. A zero-bubble schedule
///   splits the backward pass into two actions. The first action computes the
///   gradients of the inputs. The second action computes the gradients of the
///   weights.
static bool endsForward(const program::ActionT &action) {
  return action.kind == ActionKind::Backward ||
         action.kind == ActionKind::WeightGradient;
}

/// Returns an upper bound for the number of events in one step. Each action
/// (such as a forward pass) logs at most one event for itself, one for its
/// messages, and one per collective. If `countsAll` is true, it logs at most
/// one event per instruction instead of one per collective.
static size_t countEvents(const program::ProgramT &program, bool countsAll) {
  size_t count = 0;
  for (const auto &action : program.actions) {
    count += 2;
    if (action->function < 0)
      continue;
    const auto &list = program.functions[size_t(action->function)];
    count += size_t(
        std::count_if(list->instructions.begin(), list->instructions.end(),
                      [&](const auto &instruction) {
                        return countsAll || instruction->body.AsCollective();
                      }));
  }
  return count;
}

/// Returns the CPU time of this thread in seconds.
static double coreClock() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

StepLog::StepLog(const program::ProgramT &program, StepDetail detail)
    : program(program), keepsTimes(detail != StepDetail::Counts),
      keepsKernels(detail == StepDetail::Kernels),
      live(program.stage_positions.size()), peak(live.size()) {
  for (const auto &action : program.actions)
    hasBackward |= endsForward(*action);
  if (keepsTimes)
    events.reserve(countEvents(program, keepsKernels));
}

void StepLog::beginAction(size_t index) {
  const program::ActionT &action = *program.actions[index];
  if (hasBackward && action.kind == ActionKind::Forward) {
    const auto stage = size_t(action.stage);
    peak[stage] = std::max(peak[stage], ++live[stage]);
  }
  began = now();
  coreBegan = keepsTimes ? coreClock() : 0;
}

void StepLog::endAction(size_t index) {
  const program::ActionT &action = *program.actions[index];
  if (endsForward(action))
    --live[size_t(action.stage)];
  if (keepsTimes)
    add({int32_t(index), wholeAction, began, now(), coreClock() - coreBegan});
}

} // namespace pcc::runtime
