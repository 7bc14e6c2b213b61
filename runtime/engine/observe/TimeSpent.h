//===- TimeSpent.h - seconds of a rank by kind ----------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_TIMESPENT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_TIMESPENT_H

namespace pcc::runtime {

/// Seconds that a rank spent, by kind.
struct TimeSpent {
  double compute = 0; ///< in instructions
  double wait = 0;    ///< in collectives
  double idle = 0;    ///< in waits for other stages
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_TIMESPENT_H
