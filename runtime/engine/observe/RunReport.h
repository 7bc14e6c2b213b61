//===- RunReport.h - what a run took --------------------------------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H
#define PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H

#include "runtime/comm/Communicator.h"
#include "runtime/engine/observe/TimeSpent.h"

#include <optional>
#include <string>
#include <vector>

namespace pcc::runtime {

/// What a step of training tells; nothing on ranks that do not know it.
struct StepMetrics {
  int64_t step = 0; ///< from 1
  std::optional<double> loss, gradNorm, learningRate, lossScale;
};

/// One rank's timed steps.
struct RankReport {
  double seconds = 0; ///< of all timed steps
  TimeSpent spent = {};
  int64_t arenaBytes = 0; ///< as allocated
  int64_t peakMemoryBytes = 0;
  /// By stage of the model: forward passes whose activations were alive at
  /// once; 0 for stages of other ranks.
  std::vector<int32_t> peakLive = {};
  std::vector<double> steps =
      {}; ///< seconds of each; equally many on all ranks
  std::vector<StepMetrics> metrics = {}; ///< of each; none without training
};

/// Largest resident size of this process so far.
int64_t peakMemoryOfProcess();

/// "rank 3: 2 steps of 12.3 ms (compute 80%, wait 15%, idle 5%), arena 1.5 MiB,
/// peak memory 30.1 MiB"
std::string summaryLine(int rank, const RankReport &report);

/// Gathers all ranks' reports; rank 0 writes them to `path` as JSON.
Status writeReport(const std::string &path, const RankReport &mine,
                   World &world);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_RUNREPORT_H
