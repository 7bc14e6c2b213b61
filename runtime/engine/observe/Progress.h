//===- Progress.h - progress messages of a run ----------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_PROGRESS_H
#define PCC_RUNTIME_ENGINE_OBSERVE_PROGRESS_H

#include "runtime/base/StopWatch.h"
#include "runtime/engine/options/RunOptions.h"

namespace pcc::runtime {

/// Reports the progress of rank 0 to RunOptions::onProgress, at most ten steps
/// per second. Other ranks report nothing.
class Progress {
public:
  /// Borrows `options`.
  Progress(const RunOptions &options, int rank)
      : options(options), isHeard(rank == 0 && options.onProgress) {}

  /// Passes the text `what` to RunOptions::onProgress, on rank 0 only.
  void say(const std::string &what) {
    if (isHeard)
      options.onProgress(what);
  }

  /// Reports that step number `step` (from 0) begins, unless the last report
  /// was less than 0.1 s ago.
  void beginStep(int step) {
    if (!isHeard || (step > 0 && sinceStep.seconds() < 0.1))
      return;
    sinceStep = StopWatch();
    say("step " + std::to_string(step + 1) + " of " +
        std::to_string(options.warmup + options.repeat));
  }

  /// Clears the progress message before other output.
  void end() { say(""); }

private:
  const RunOptions &options;
  /// Whether this rank reports progress: it is rank 0, and
  /// RunOptions::onProgress is set.
  const bool isHeard;
  /// Measures the time since the last report of a step.
  StopWatch sinceStep;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_PROGRESS_H
