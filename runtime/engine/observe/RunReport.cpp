//===- RunReport.cpp - times, memory and metrics of a run -----------------===//

#include "runtime/engine/observe/RunReport.h"
#include "runtime/base/AtomicFile.h"
#include "runtime/tensor/JsonNumbers.h"
#include "runtime/timeline/TimelineJson.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sys/resource.h>

namespace pcc::runtime {

int64_t peakMemoryOfProcess() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

std::vector<double> slowestSteps(std::span<const RankReport> ranks) {
  std::vector<double> slowest(ranks.empty() ? 0 : ranks[0].steps.size());
  for (const RankReport &report : ranks)
    for (size_t step = 0; step < slowest.size(); ++step)
      slowest[step] = std::max(slowest[step], report.steps[step]);
  return slowest;
}

/// A packed report is a list of numbers. It begins with this many numbers that
/// describe the whole run, such as the size of the arena. The numbers of the
/// single steps and of the pipeline stages follow.
static constexpr size_t kSingleNumbers = 8;

/// Converts the report of one rank to a list of numbers, so that an all-gather
/// can send the report to the other ranks. The list has the same length on all
/// ranks. After `kSingleNumbers` numbers come the durations of the timed steps,
/// and the live activations of each stage.
static std::vector<double> pack(const RankReport &report) {
  std::vector<double> numbers = {report.seconds,
                                 report.spent.idle,
                                 report.spent.compute,
                                 report.spent.wait,
                                 double(report.weightBytes),
                                 double(report.stateBytes),
                                 double(report.arenaBytes),
                                 double(report.peakMemoryBytes)};
  numbers.insert(numbers.end(), report.steps.begin(), report.steps.end());
  numbers.insert(numbers.end(), report.peakLive.begin(), report.peakLive.end());
  return numbers;
}

/// Returns the report that pack() has converted to `numbers`. `numSteps` is the
/// number of timed steps.
static RankReport unpack(std::span<const double> numbers, size_t numSteps) {
  const std::span<const double> rest = numbers.subspan(kSingleNumbers);
  return {
      .seconds = numbers[0],
      .spent = {.compute = numbers[2], .wait = numbers[3], .idle = numbers[1]},
      .weightBytes = int64_t(numbers[4]),
      .stateBytes = int64_t(numbers[5]),
      .arenaBytes = int64_t(numbers[6]),
      .peakMemoryBytes = int64_t(numbers[7]),
      .peakLive = {rest.begin() + numSteps, rest.end()},
      .steps = {rest.begin(), rest.begin() + numSteps}};
}

Status gatherReports(const RankReport &mine, World &world,
                     std::vector<RankReport> &ranks) {
  const std::vector<double> numbers = pack(mine);
  const size_t length = numbers.size();
  std::vector<double> all(length * size_t(world.size()));
  PCC_RETURN_IF_ERROR(world.all().allGather(numbers.data(), all.data(),
                                            length * sizeof(double),
                                            {"write", "report"}));
  if (world.rank() != 0)
    return Status::success();
  for (size_t begin = 0; begin < all.size(); begin += length)
    ranks.push_back(
        unpack(std::span(all).subspan(begin, length), mine.steps.size()));
  ranks[0].metrics = mine.metrics;
  return Status::success();
}

/// Converts counts of live activations to a JSON object. `counts[s]` is the
/// largest number of microbatches that had live activations in pipeline stage s
/// at the same time. Activations are live from the forward pass to the end of
/// the backward pass.
///
/// The object has one entry per stage. Stages with count 0 are left out. For
/// example, the counts 0, 4, 3 become {"1": 4, "2": 3}.
static nlohmann::ordered_json liveJson(std::span<const int32_t> counts) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::object();
  for (size_t stage = 0; stage < counts.size(); ++stage)
    if (counts[stage] > 0)
      stages[std::to_string(stage)] = counts[stage];
  return stages;
}

/// Converts the report of one rank to a JSON object.
static nlohmann::ordered_json toJson(size_t rank, const RankReport &report) {
  return {{"rank", rank},
          {"seconds", report.seconds},
          {"steps", report.steps},
          {"idle_seconds", report.spent.idle},
          {"compute_seconds", report.spent.compute},
          {"wait_seconds", report.spent.wait},
          {"weight_bytes", report.weightBytes},
          {"state_bytes", report.stateBytes},
          {"arena_bytes", report.arenaBytes},
          {"peak_memory_bytes", report.peakMemoryBytes},
          {"peak_live_activations", liveJson(report.peakLive)}};
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

/// Writes two lists as JSON:
///
/// - "ranks": the times and memory sizes of each rank
/// - "steps": the duration and metrics of each timed step
///
/// If `timeline` is given, the JSON contains it as well.
///
/// A step may take longer on one rank than on another. The list "steps" has the
/// duration on the slowest rank.
Status writeReport(const std::string &path, std::span<const RankReport> all,
                   const Timeline *timeline) {
  nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
  nlohmann::ordered_json steps = nlohmann::ordered_json::array();
  for (size_t rank = 0; rank < all.size(); ++rank)
    ranks.push_back(toJson(rank, all[rank]));
  const std::vector<double> slowest = slowestSteps(all);
  for (size_t step = 0; step < slowest.size(); ++step)
    steps.push_back(stepJson(all[0], step, slowest[step]));
  nlohmann::ordered_json report = {{"ranks", ranks}, {"steps", steps}};
  if (timeline)
    report["timeline"] = toJson(*timeline);
  roundNumbers(report);
  return writeFileAtomically(path, report.dump(2) + "\n");
}

} // namespace pcc::runtime
