//===- RunReport.h - times, memory and metrics of a run -------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/TimeSpent.h"

#include <optional>
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
  /// Size in bytes of the arena, the memory for intermediate tensors.
  int64_t arenaBytes = 0;
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

/// Returns the line that rank `rank` prints at the end of a run. For example:
/// "rank 3: 2 steps of 12.300 ms (compute 80%, wait 15%, idle 5%), arena 1.5
/// MiB, peak memory 30.1 MiB". "compute" is the time in instructions other than
/// collectives. "wait" is the time in collectives. "idle" is the time in waits
/// for messages to or from other pipeline stages. The arena is the memory for
/// intermediate tensors. The peak memory is the largest resident set size of
/// the process.
std::string summaryLine(int rank, const RankReport &report);

/// Writes the reports of all ranks to the file `path` as JSON. All ranks must
/// call this function. Each rank passes its own report as `mine`. Rank 0
/// gathers the reports and writes the file. If rank 0 cannot write the file,
/// the file keeps its old content, and rank 0 returns exit code 7.
Status writeReport(const std::string &path, const RankReport &mine,
                   World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H
