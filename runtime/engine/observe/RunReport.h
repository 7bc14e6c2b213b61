//===- RunReport.h - times, memory and metrics of a run -------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/TimeSpent.h"

#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Metrics of one training step. A metric is empty if this rank does not know
/// it.
struct StepMetrics {
  /// Number of the step, counted from 1 over all resumed runs.
  int64_t step = 0;
  std::optional<double> loss, gradNorm, learningRate, lossScale;
};

/// Measurements of one rank over its timed steps.
struct RankReport {
  /// Total duration of all timed steps in seconds.
  double seconds = 0;
  /// Division of `seconds` into kinds of work.
  TimeSpent spent = {};
  /// Size in bytes of the arena, the memory for intermediate tensors.
  int64_t arenaBytes = 0;
  /// Largest resident set size of the process in bytes.
  int64_t peakMemoryBytes = 0;
  /// Per pipeline stage: largest number of microbatches with live activations;
  /// 0 for stages of other ranks.
  std::vector<int32_t> peakLive = {};
  /// Duration of each timed step in seconds; equally many on all ranks.
  std::vector<double> steps = {};
  /// Metrics of each timed step; empty without training.
  std::vector<StepMetrics> metrics = {};
};

/// Returns the largest resident set size of this process so far, in bytes.
int64_t peakMemoryOfProcess();

/// Returns the line that a rank prints at the end: "rank 3: 2 steps of 12.3 ms
/// (compute 80%, wait 15%, idle 5%), arena 1.5 MiB, peak memory 30.1 MiB".
std::string summaryLine(int rank, const RankReport &report);

/// Gathers the reports of all ranks on rank 0, which writes them to `path` as
/// JSON, completely or not at all. All ranks must call.
Status writeReport(const std::string &path, const RankReport &mine,
                   World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H
