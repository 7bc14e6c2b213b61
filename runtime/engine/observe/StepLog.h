//===- StepLog.h - log of the actions of one step on one rank -------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H
#define PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H

#include "runtime/program/Program.h"

#include <chrono>
#include <vector>

namespace pcc::runtime {

/// Log of the actions that ScheduleExecutor executes. The log always counts the
/// forward passes whose activations are alive:
///
/// - from the start of the forward pass (F) to the end of its backward pass
///   (B);
/// - if the backward pass is split into input gradient (I) and weight gradient
///   (W), from the start of F to the end of W.
///
/// If `keepsTimes` is set, the log also keeps the times of all events of the
/// last step. Only the constructor allocates memory.
class StepLog {
public:
  /// One event of the log. An event is an action, the wait for the messages of
  /// an action, or a collective within an action. Times are in seconds of the
  /// steady clock.
  struct Event {
    /// Index of the action in the program's action table.
    int32_t action;
    /// Number that tells the kind of the event:
    ///
    /// - a collective: its index among the instructions of the action's
    ///   function
    /// - an action: the constant `wholeAction`
    /// - the wait for an action's messages: the constant `messages`
    int32_t instruction;
    double start;
    double end;
    /// CPU time of this thread during an action, in seconds; -1 if unknown. It
    /// is always -1 for a wait and for a collective.
    double coreSeconds = -1;
  };
  /// Values of Event::instruction for events other than collectives.
  /// `wholeAction`: the event is an action. `messages`: the event is the wait
  /// for the messages of an action.
  static constexpr int32_t wholeAction = -1, messages = -2;

  /// Borrows `program`, which must outlive this object. Times of events are
  /// kept only if `keepsTimes` is true.
  explicit StepLog(const program::ProgramT &program, bool keepsTimes);

  /// Discards the events of the previous step. The counts of peakLive() are
  /// kept.
  void beginStep() { events.clear(); }
  /// Records that the action with index `action` in the action table begins.
  void beginAction(size_t action);
  void endAction(size_t action);
  /// Records that the action with index `action` communicated. The event began
  /// at `start`, a time that now() returned, and ends at the time of the call.
  /// `instruction` is stored in Event::instruction.
  void addCommunication(size_t action, int32_t instruction, double start) {
    if (keepsTimes)
      add({int32_t(action), instruction, start, now()});
  }

  /// Returns the time of the steady clock in seconds. If times are not kept,
  /// returns 0 without reading the clock.
  double now() const { return keepsTimes ? clock() : 0; }
  /// Returns the time of the steady clock in seconds.
  static double clock() {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// Returns, per pipeline stage of the model, the largest number of forward
  /// passes whose activations were alive at once. The number is 0 for stages
  /// that this rank does not run. In a program without backward passes it is 0
  /// for all stages, because no activations are kept.
  const std::vector<int32_t> &peakLive() const { return peak; }
  /// Returns the events of the last step in the order in which they ended;
  /// empty if times are not kept.
  const std::vector<Event> &eventsOfLastStep() const { return events; }

private:
  /// Appends an event to the log, or drops it if the reserved memory is full;
  /// never allocates.
  void add(const Event &event) {
    if (events.size() < events.capacity())
      events.push_back(event);
  }

  const program::ProgramT &program;
  const bool keepsTimes;
  /// Whether the program has backward passes.
  bool hasBackward = false;
  /// Two counts per pipeline stage. `live`: number of forward passes whose
  /// activations are alive. `peak`: largest value that `live` has had.
  std::vector<int32_t> live, peak;
  /// Start of the current action in seconds: `began` by the steady clock,
  /// `coreBegan` by the thread's CPU clock.
  double began = 0, coreBegan = 0;
  std::vector<Event> events;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H
