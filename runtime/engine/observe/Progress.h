//===- Progress.h - progress messages of a run ----------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_PROGRESS_H
#define PCC_RUNTIME_ENGINE_OBSERVE_PROGRESS_H

#include "runtime/base/StopWatch.h"
#include "runtime/engine/options/RunOptions.h"

namespace pcc::runtime {

/// Reports the progress of rank 0 to RunOptions::onProgress. Other ranks report
/// nothing. Messages about steps are limited to ten per second.
class Progress {
public:
  /// Borrows `options`, which must outlive this object.
  Progress(const RunOptions &options, int rank)
      : options(options), isHeard(rank == 0 && options.onProgress) {}

  /// Passes the text `what` to RunOptions::onProgress. Does nothing on ranks
  /// other than rank 0.
  void say(const std::string &what) {
    if (isHeard)
      options.onProgress(what);
  }

  /// Reports that step number `step`, counted from 0, begins. Does nothing if a
  /// step was reported less than 0.1 s ago.
  void beginStep(int step) {
    if (!isHeard || (step > 0 && sinceStep.seconds() < 0.1))
      return;
    sinceStep = StopWatch();
    say("step " + std::to_string(step + 1) + " of " +
        std::to_string(options.warmup + options.repeat));
  }

  /// Clears the progress message, so that other output can follow it.
  void end() { say(""); }

private:
  const RunOptions &options;
  /// True only on rank 0, and only if RunOptions::onProgress is set. If false,
  /// nothing is reported.
  const bool isHeard;
  /// Measures the time since the last report of a step.
  StopWatch sinceStep;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_PROGRESS_H
