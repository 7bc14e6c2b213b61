//===- StepLog.h - log of the actions of one step on one rank -------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H
#define PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H

#include "runtime/program/Program.h"

#include <chrono>
#include <vector>

namespace pcc::runtime {

/// Log of the actions that ScheduleExecutor executes. The log always counts the
/// forward passes whose activations are alive: from the start of F to the end
/// of B, or of W where the backward pass is split. If asked for, the log also
/// keeps the times of all events of the last step. Only the constructor
/// allocates memory.
class StepLog {
public:
  /// One entry of the log: a whole action, the messages of an action, or a
  /// collective within an action. Times are seconds of the steady clock.
  struct Event {
    /// Index into the action table.
    int32_t action;
    /// Index of the collective in the action's function, `wholeAction` or
    /// `messages`.
    int32_t instruction;
    double start;
    double end;
    /// Seconds in which this thread had a core; -1 if unknown, as for all
    /// events other than whole actions.
    double coreSeconds = -1;
  };
  /// Special values of Event::instruction, for events other than a collective.
  static constexpr int32_t wholeAction = -1, messages = -2;

  /// Borrows `program`, which must outlive this object. With `keepsTimes`,
  /// times of events are kept.
  explicit StepLog(const program::ProgramT &program, bool keepsTimes);

  /// Discards the events of the previous step. Peak counts are kept.
  void beginStep() { events.clear(); }
  /// Records that action number `action` of the table begins or ends.
  void beginAction(size_t action);
  void endAction(size_t action);
  /// Records a communication that began at `start`, a value of now(), and has
  /// just ended.
  void addCommunication(size_t action, int32_t instruction, double start) {
    if (keepsTimes)
      add({int32_t(action), instruction, start, now()});
  }

  /// Returns the steady clock in seconds, or 0 if times are not kept, which
  /// saves reading the clock.
  double now() const { return keepsTimes ? clock() : 0; }
  /// Returns the steady clock in seconds.
  static double clock() {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// Returns, per stage of the model, the largest number of forward passes that
  /// were alive at once. 0 for stages of other positions, and for all stages of
  /// a program without backward passes, which keeps no activations.
  const std::vector<int32_t> &peakLive() const { return peak; }
  /// Returns the events of the last step in the order in which they ended;
  /// empty if times are not kept.
  const std::vector<Event> &eventsOfLastStep() const { return events; }

private:
  /// Appends an event if there is room; never allocates.
  void add(const Event &event) {
    if (events.size() < events.capacity())
      events.push_back(event);
  }

  const program::ProgramT &program;
  const bool keepsTimes;
  /// Whether the program has backward passes.
  bool hasBackward = false;
  /// Per stage: forward passes that are alive, and the largest such number so
  /// far.
  std::vector<int32_t> live, peak;
  /// Start of the current action, by the steady clock and by the thread's CPU
  /// clock.
  double began = 0, coreBegan = 0;
  std::vector<Event> events;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H
