//===- StepLog.h - log of the actions of one step on one rank -------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H
#define PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H

#include "runtime/program/Program.h"

#include <chrono>
#include <vector>

namespace pcc::runtime {

/// Log of the actions (forward passes, backward passes, updates, …) of one rank
/// in a step. Counts, per pipeline stage, the microbatches with live
/// activations. Activations are live from the start of their forward pass to
/// the end of their backward pass. If the schedule splits the backward pass,
/// they are live to the end of its weight gradient.
///
/// With `keepsTimes`, also keeps the times of all events of the last step. Only
/// the constructor allocates memory.
class StepLog {
public:
  /// One event: an action, a collective within it, or the wait for its
  /// messages. Times are in seconds of the steady clock.
  struct Event {
    /// Index, in the program's action table, of the action to which this event
    /// belongs.
    int32_t action;
    /// Part of the action that the event covers:
    ///
    /// - `wholeAction`: the whole action
    /// - `messages`: the wait for the action's messages
    /// - any other value: a collective, by its index among the action's
    ///   instructions
    int32_t instruction;
    double start;
    double end;
    /// CPU time of the thread in seconds if the event covers a whole action;
    /// otherwise -1.
    double coreSeconds = -1;
  };
  /// Values of Event::instruction. `wholeAction`: the event covers a whole
  /// action. `messages`: the event is the wait for an action's messages.
  static constexpr int32_t wholeAction = -1, messages = -2;

  /// Borrows `program`. Times are kept only if `keepsTimes` is true.
  explicit StepLog(const program::ProgramT &program, bool keepsTimes);

  /// Discards the events of the previous step. Keeps the counts of peakLive().
  void beginStep() { events.clear(); }
  /// Records that action number `action` of the action table begins.
  void beginAction(size_t action);
  void endAction(size_t action);
  /// Records a collective or a wait for messages within action number `action`.
  /// It has lasted from `start` until this call. `instruction` is the value for
  /// Event::instruction.
  void addCommunication(size_t action, int32_t instruction, double start) {
    if (keepsTimes)
      add({int32_t(action), instruction, start, now()});
  }

  /// Returns the time of the steady clock in seconds; 0 if times are not kept.
  double now() const { return keepsTimes ? clock() : 0; }
  /// Returns the time of the steady clock in seconds.
  static double clock() {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// Returns, per pipeline stage, the largest number of microbatches with live
  /// activations so far. This number is 0 for stages of other ranks. All
  /// numbers are 0 in a program without backward passes.
  const std::vector<int32_t> &peakLive() const { return peak; }
  /// Returns the events of the last step, in the order of their ends; empty if
  /// times are not kept.
  const std::vector<Event> &eventsOfLastStep() const { return events; }

private:
  /// Appends an event; drops it if the reserved memory is full.
  void add(const Event &event) {
    if (events.size() < events.capacity())
      events.push_back(event);
  }

  const program::ProgramT &program;
  const bool keepsTimes;
  /// Whether the program has backward passes.
  bool hasBackward = false;
  /// Per pipeline stage: number of microbatches with live activations (`live`),
  /// and its largest value so far (`peak`).
  std::vector<int32_t> live, peak;
  /// Start of the current action in seconds, by the steady clock (`began`) and
  /// by the thread's CPU clock (`coreBegan`).
  double began = 0, coreBegan = 0;
  std::vector<Event> events;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H
