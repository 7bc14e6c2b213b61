//===- RankTable.h - times and memory of all ranks, grouped ---------------===//

#ifndef PCC_RUNTIME_ENGINE_OBSERVE_RANKTABLE_H
#define PCC_RUNTIME_ENGINE_OBSERVE_RANKTABLE_H

#include "runtime/engine/observe/RunReport.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

namespace pcc::runtime {

/// Distribution of the durations of several steps, in seconds. The percentiles
/// are nearest-rank percentiles: p90 is the smallest duration that at least
/// 90 % of the durations do not exceed. The deviation is the standard deviation
/// of the sample; 0 for one step.
struct StepSpread {
  double median = 0, min = 0, max = 0, p90 = 0, p99 = 0, deviation = 0;
};

/// Returns the distribution of `seconds`. All fields are 0 if `seconds` is
/// empty.
StepSpread spreadOf(std::vector<double> seconds);

/// One row of the table: ranks `first` to `last`, which run the stages
/// `firstStage` to `lastStage`.
struct RankRow {
  int first = 0, last = 0, firstStage = 0, lastStage = 0;
  /// Distribution of the durations of the timed steps on all ranks of the row.
  /// In the row of the whole run, each step has one duration, that of its
  /// slowest rank.
  StepSpread step = {};
  /// Fractions, from 0 to 1, of the total duration of the timed steps on all
  /// ranks of the row: the fraction in computations and the fraction in
  /// collectives.
  double compute = 0, collectives = 0;
  /// Most bytes that a rank of the row allocates for weights, for the state of
  /// the optimizer and for intermediate values, and the largest resident set
  /// size of a process.
  int64_t weights = 0, state = 0, arena = 0, peak = 0;
  /// Number of the slowest rank: the rank, among the ranks of this row, with
  /// the longest total time of all timed steps.
  int slowest = 0;

  /// The fraction without computation: collectives, and waits for other stages.
  /// Pictures of the step show the same idle time.
  double idle() const { return std::max(0.0, 1 - compute); }
};

/// Times and memory of a run: one row for each group of ranks that run the same
/// stages, in order of the ranks, and one row for the whole run.
struct RankTable {
  std::vector<RankRow> rows;
  RankRow whole;
  /// Number of timed steps.
  size_t steps = 0;
  /// Whether all ranks are threads of one process. The peak of each row is then
  /// the peak of this process.
  bool sharesProcess = false;
  /// Number of samples that all ranks together process in a step.
  int64_t samples = 1;

  /// Returns the samples per second at the median duration of a step.
  double samplesPerSecond() const {
    return whole.step.median > 0 ? double(samples) / whole.step.median : 0;
  }
};

/// Summarizes the reports of all ranks in a table. `stagePositions` has the
/// pipeline position of each stage of the model: the coordinate of the ranks
/// that run the stage, along the pipeline axis. This axis is the first one of
/// the mesh, so ranks at the same position have consecutive numbers. The table
/// has one row per position, but at most `mostRows` rows. If there are more
/// positions, a row stands for several of them.
RankTable tabulate(std::span<const RankReport> ranks,
                   std::span<const int32_t> stagePositions,
                   size_t mostRows = 16);

/// Returns the table in `format`: "table", "csv", "md" or "json". The text for
/// people ("table" and "md") rounds to three digits; csv and json have seconds
/// and bytes. If `format` is empty, the result is for people who read stderr.
/// Lines of the table fit the terminal, if the file to which it goes is one.
std::string rankTableText(const RankTable &table, const std::string &format);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_OBSERVE_RANKTABLE_H
