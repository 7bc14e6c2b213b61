//===- TimeSpent.h - seconds of a rank by kind of work --------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_TIMESPENT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_TIMESPENT_H

namespace pcc::runtime {

/// Seconds that the host thread of a rank spent, by kind of work. On a device
/// with a queue, a kind's seconds are those in which the thread enqueued such
/// work. The wait for the device at the end of a step is added to `compute`.
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
