//===- RunReport.h - times, memory and metrics of a run -------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/TimeSpent.h"
#include "runtime/timeline/Timeline.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Metrics of one training step. Each metric is a scalar output of the program,
/// such as the loss. In a pipeline, only ranks of the last stage compute the
/// loss. On a rank that neither computes a metric nor receives it from another
/// rank, the metric is std::nullopt.
struct StepMetrics {
  /// Number of the step in the whole training, counted from 1. A resumed
  /// training continues to count. For example, a training that resumes from a
  /// checkpoint of step 100 begins with step 101.
  int64_t step = 0;
  std::optional<double> loss, gradNorm, learningRate, lossScale;
};

/// Measurements of one rank in a run. Durations are measured only in timed
/// steps. In training, every step is timed. In inference, a run may begin with
/// warm-up steps, which are not timed. All later steps are timed. For example,
/// with the options --warmup 2 and --repeat 5, a run has 7 steps, and the last
/// 5 steps are timed.
struct RankReport {
  /// Total duration of all timed steps in seconds.
  double seconds = 0;
  /// Seconds of all timed steps for each kind of work: computations,
  /// collectives, and waits for messages from other pipeline stages.
  TimeSpent spent = {};
  /// Bytes of the weights, of the state of the optimizer, and of the arena (the
  /// memory for intermediate tensors) of this rank.
  int64_t weightBytes = 0, stateBytes = 0, arenaBytes = 0;
  /// Largest resident set size of the process in bytes.
  int64_t peakMemoryBytes = 0;
  /// One entry per pipeline stage: the largest number of microbatches that had
  /// live activations in this stage at the same time. Activations are live from
  /// the forward pass to the end of the backward pass. If this rank does not
  /// run the stage, the entry is 0. Without a backward pass, all entries are 0.
  std::vector<int32_t> peakLive = {};
  /// Duration of each timed step in seconds. All ranks time the same steps, so
  /// the list has the same length on all ranks.
  std::vector<double> steps = {};
  /// Metrics of each timed step; empty without training.
  std::vector<StepMetrics> metrics = {};
};

/// Returns the largest resident set size of this process so far, in bytes.
int64_t peakMemoryOfProcess();

/// Returns one duration for each timed step: the longest duration of this step
/// on any rank.
std::vector<double> slowestSteps(std::span<const RankReport> ranks);

/// Sends the reports of all ranks to rank 0. All ranks must call this function.
/// Each rank passes its own report as `mine`. On rank 0, stores the reports of
/// all ranks in `ranks`. Only ranks[0] has metrics: the metrics of the other
/// ranks are not sent. On other ranks, `ranks` stays empty.
Status gatherReports(const RankReport &mine, World &world,
                     std::vector<RankReport> &ranks);

/// Writes the reports of all ranks to the file `path` as JSON, with `timeline`
/// unless it is null. If the file cannot be written, it keeps its old content,
/// and the result is an error with exit code 7.
Status writeReport(const std::string &path, std::span<const RankReport> ranks,
                   const Timeline *timeline = nullptr);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H
