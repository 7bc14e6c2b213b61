//===- RunReport.cpp - times, memory and metrics of a run -----------------===//

#include "runtime/engine/observe/RunReport.h"
#include "runtime/base/AtomicFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <sys/resource.h>

namespace pcc::runtime {

int64_t peakMemoryOfProcess() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

static double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

/// Shows three times as percentages of the duration of all timed steps:
///
/// - "compute": the time in instructions other than collectives
/// - "wait": the time in collectives
/// - "idle": the time in waits for messages to or from other pipeline stages
///
/// For example, the duration of all timed steps is 20 s, and the rank spent 3 s
/// in collectives. The text then contains "wait 15%".
std::string summaryLine(int rank, const RankReport &report) {
  constexpr double mebibyte = 1 << 20;
  const size_t steps = report.steps.size();
  std::array<char, 256> line;
  std::snprintf(line.data(), line.size(),
                "rank %d: %zu %s of %.3f ms (compute %.0f%%, wait %.0f%%, idle "
                "%.0f%%), arena %.1f MiB, peak memory %.1f MiB",
                rank, steps, steps == 1 ? "step" : "steps",
                steps > 0 ? 1e3 * report.seconds / double(steps) : 0,
                percent(report.spent.compute, report.seconds),
                percent(report.spent.wait, report.seconds),
                percent(report.spent.idle, report.seconds),
                double(report.arenaBytes) / mebibyte,
                double(report.peakMemoryBytes) / mebibyte);
  return line.data();
}

/// Converts the report of one rank to a list of numbers, so that an all-gather
/// can send the report to the other ranks. The list has the same length on all
/// ranks. It consists of three parts:
///
/// - Six numbers: the seconds of all timed steps together; the seconds of these
///   steps that the rank spent in waits for messages, in computations, and in
///   collectives; the bytes of the arena (the memory for intermediate tensors);
///   the bytes of the peak memory of the process.
/// - One number per timed step: the duration of this step in seconds.
/// - One number per pipeline stage: the largest number of microbatches that had
///   live activations in this stage at the same time.
static std::vector<double> pack(const RankReport &report) {
  std::vector<double> numbers = {report.seconds,
                                 report.spent.idle,
                                 report.spent.compute,
                                 report.spent.wait,
                                 double(report.arenaBytes),
                                 double(report.peakMemoryBytes)};
  numbers.insert(numbers.end(), report.steps.begin(), report.steps.end());
  numbers.insert(numbers.end(), report.peakLive.begin(), report.peakLive.end());
  return numbers;
}

/// Converts counts of live activations to a JSON object. `counts[s]` is the
/// largest number of microbatches that had live activations in pipeline stage s
/// at the same time. Activations are live from the forward pass to the end of
/// the backward pass. `numStages` is the number of counts.
///
/// The object has one entry per stage. Stages with count 0 are left out. For
/// example, the counts 0, 4, 3 become {"1": 4, "2": 3}.
static nlohmann::ordered_json liveJson(const double *counts, size_t numStages) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::object();
  for (size_t stage = 0; stage < numStages; ++stage)
    if (counts[stage] > 0)
      stages[std::to_string(stage)] = int64_t(counts[stage]);
  return stages;
}

/// Converts the report of one rank to a JSON object. `numbers` is a list of
/// numbers that pack() has made from the report.
static nlohmann::ordered_json toJson(int rank, const double *numbers,
                                     size_t numSteps, size_t numStages) {
  return {
      {"rank", rank},
      {"seconds", numbers[0]},
      {"steps", std::vector<double>(numbers + 6, numbers + 6 + numSteps)},
      {"idle_seconds", numbers[1]},
      {"compute_seconds", numbers[2]},
      {"wait_seconds", numbers[3]},
      {"arena_bytes", int64_t(numbers[4])},
      {"peak_memory_bytes", int64_t(numbers[5])},
      {"peak_live_activations", liveJson(numbers + 6 + numSteps, numStages)}};
}

static nlohmann::ordered_json orNull(const std::optional<double> &number) {
  return number ? nlohmann::ordered_json(*number) : nlohmann::ordered_json();
}

/// Returns the JSON object of one timed step. `report` is the report of rank 0.
/// `step` is the index of the timed step in the list `report.steps`. `seconds`
/// is the duration of the step on the slowest rank. The JSON object has these
/// fields:
///
/// - "step": the number of the step. In training, this is the number in the
///   whole training, such as 101 for the first step after the checkpoint of
///   step 100. Without training, this is the argument `step`.
/// - "seconds": the argument `seconds`
/// - "loss": the loss of the step; null if `report` has no loss
/// - "grad_norm": the norm of the gradients; null if `report` has no norm
static nlohmann::ordered_json stepJson(const RankReport &report, size_t step,
                                       double seconds) {
  const StepMetrics metrics = step < report.metrics.size()
                                  ? report.metrics[step]
                                  : StepMetrics{int64_t(step), {}, {}, {}, {}};
  return {{"step", metrics.step},
          {"seconds", seconds},
          {"loss", orNull(metrics.loss)},
          {"grad_norm", orNull(metrics.gradNorm)}};
}

/// Gathers the reports of all ranks. Rank 0 then writes two lists as JSON:
///
/// - "ranks": the times and memory sizes of each rank
/// - "steps": the duration and metrics of each timed step
///
/// A step may take longer on one rank than on another. The list "steps" has the
/// duration on the slowest rank.
Status writeReport(const std::string &path, const RankReport &mine,
                   World &world) {
  const std::vector<double> numbers = pack(mine);
  const size_t numRanks = size_t(world.size());
  std::vector<double> all(numbers.size() * numRanks);
  if (Status status = world.all().allGather(numbers.data(), all.data(),
                                            numbers.size() * sizeof(double),
                                            {"write", "report"});
      status.failed() || world.rank() != 0)
    return status;
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (size_t rank = 0; rank < numRanks; ++rank)
    ranks.push_back(toJson(int(rank), all.data() + rank * numbers.size(),
                           mine.steps.size(), mine.peakLive.size()));
  for (size_t step = 0; step < mine.steps.size(); ++step) {
    double slowest = 0;
    for (size_t rank = 0; rank < numRanks; ++rank)
      slowest = std::max(slowest, all[rank * numbers.size() + 6 + step]);
    steps.push_back(stepJson(mine, step, slowest));
  }
  const nlohmann::ordered_json report = {{"ranks", ranks}, {"steps", steps}};
  return writeFileAtomically(path, report.dump(2) + "\n");
}

} // namespace pcc::runtime
