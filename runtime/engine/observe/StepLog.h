//===- StepLog.h - what a rank did in a step ------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H
#define PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H

#include "runtime/program/Program.h"

#include <chrono>
#include <vector>

namespace pcc::runtime {

/// Told by ScheduleExecutor what it does. Counts the forward passes whose activations
/// are alive (F begins … B or W ends), always; keeps when everything ran in the
/// last step, if that is asked for. Nothing is allocated after the constructor.
class StepLog {
public:
  /// An action (`instruction` is `wholeAction`), the messages of one, or a
  /// collective within one. Seconds are of the steady clock, but for those in
  /// which this thread had a core; they are known of whole actions.
  struct Event {
    int32_t action;
    int32_t instruction;
    double start;
    double end;
    double coreSeconds = -1;
  };
  static constexpr int32_t wholeAction = -1, messages = -2;

  /// `program` must outlive this.
  explicit StepLog(const program::ProgramT &program, bool keepsTimes);

  void beginStep() { events.clear(); }
  void beginAction(size_t action);
  void endAction(size_t action);
  /// `start` is a now(); it ended just now.
  void addCommunication(size_t action, int32_t instruction, double start) {
    if (keepsTimes)
      add({int32_t(action), instruction, start, now()});
  }

  /// Where times are not kept nobody looks at the clock.
  double now() const { return keepsTimes ? clock() : 0; }
  static double clock() {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// By stage of the model; 0 for stages of other positions, and for all of a
  /// step without backward passes, which keeps nothing.
  const std::vector<int32_t> &peakLive() const { return peak; }
  const std::vector<Event> &eventsOfLastStep() const { return events; }

private:
  void add(const Event &event) {
    if (events.size() < events.capacity())
      events.push_back(event);
  }

  const program::ProgramT &program;
  const bool keepsTimes;
  bool hasBackward = false;
  std::vector<int32_t> live, peak;
  double began = 0, coreBegan = 0;
  std::vector<Event> events;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_STEPLOG_H
