//===- TimeSpent.h - seconds of a rank by kind of work --------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_TIMESPENT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_TIMESPENT_H

namespace pcc::runtime {

/// Seconds of a rank's host thread, by kind of work. On a GPU, the thread
/// enqueues work and then waits for the end of the step; this wait counts as
/// `compute`.
struct TimeSpent {
  /// Seconds spent in instructions other than collectives.
  double compute = 0;
  /// Seconds in collectives.
  double wait = 0;
  /// Seconds spent in waits for messages of other pipeline stages.
  double idle = 0;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_TIMESPENT_H
