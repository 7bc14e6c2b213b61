//===- Progress.h - how far a run is --------------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_PROGRESS_H
#define PCC_RUNTIME_ENGINE_OBSERVE_PROGRESS_H

#include "runtime/base/StopWatch.h"
#include "runtime/engine/options/RunOptions.h"

namespace pcc::runtime {

/// Tells RunOptions::onProgress what rank 0 does, steps at most ten times a
/// second.
class Progress {
public:
  Progress(const RunOptions &options, int rank)
      : options(options), isHeard(rank == 0 && options.onProgress) {}

  void say(const std::string &what) {
    if (isHeard)
      options.onProgress(what);
  }

  /// Step `step`, counted from 0, begins.
  void beginStep(int step) {
    if (!isHeard || (step > 0 && sinceStep.seconds() < 0.1))
      return;
    sinceStep = StopWatch();
    say("step " + std::to_string(step + 1) + " of " +
        std::to_string(options.warmup + options.repeat));
  }

  /// What is said next comes from elsewhere.
  void end() { say(""); }

private:
  const RunOptions &options;
  const bool isHeard;
  StopWatch sinceStep;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_PROGRESS_H
