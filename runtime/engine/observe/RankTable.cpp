//===- RankTable.cpp - times and memory of all ranks, grouped -------------===//

#include "runtime/engine/observe/RankTable.h"
#include "runtime/base/QuantityText.h"
#include "runtime/base/TextTable.h"
#include "runtime/tensor/JsonNumbers.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unistd.h>

namespace pcc::runtime {

StepSpread spreadOf(std::vector<double> seconds) {
  if (seconds.empty())
    return {};
  std::sort(seconds.begin(), seconds.end());
  const size_t count = seconds.size();
  auto percentile = [&](size_t percent) {
    return seconds[(percent * count + 99) / 100 - 1];
  };
  const double mean =
      std::accumulate(seconds.begin(), seconds.end(), 0.0) / double(count);
  double squares = 0;
  for (double number : seconds)
    squares += (number - mean) * (number - mean);
  return {.median = (seconds[(count - 1) / 2] + seconds[count / 2]) / 2,
          .min = seconds.front(),
          .max = seconds.back(),
          .p90 = percentile(90),
          .p99 = percentile(99),
          .deviation = count > 1 ? std::sqrt(squares / double(count - 1)) : 0};
}

/// Sets the times and the memory of `row` from the reports of the ranks
/// `row.first` to `row.last`. `durations` has the durations of steps, in
/// seconds, from which `row.step` is computed.
static void summarize(RankRow &row, std::span<const RankReport> ranks,
                      std::vector<double> durations) {
  row.step = spreadOf(std::move(durations));
  double seconds = 0, compute = 0, collectives = 0, longest = -1;
  for (int rank = row.first; rank <= row.last; ++rank) {
    const RankReport &report = ranks[size_t(rank)];
    seconds += report.seconds;
    compute += report.spent.compute;
    collectives += report.spent.wait;
    row.weights = std::max(row.weights, report.weightBytes);
    row.state = std::max(row.state, report.stateBytes);
    row.arena = std::max(row.arena, report.arenaBytes);
    row.peak = std::max(row.peak, report.peakMemoryBytes);
    if (report.seconds > longest)
      row.slowest = rank;
    longest = std::max(longest, report.seconds);
  }
  row.compute = seconds > 0 ? compute / seconds : 0;
  row.collectives = seconds > 0 ? collectives / seconds : 0;
}

/// Returns the durations of all steps on all ranks of `row`, in seconds.
static std::vector<double> durationsOf(const RankRow &row,
                                       std::span<const RankReport> ranks) {
  std::vector<double> durations;
  for (int rank = row.first; rank <= row.last; ++rank)
    durations.insert(durations.end(), ranks[size_t(rank)].steps.begin(),
                     ranks[size_t(rank)].steps.end());
  return durations;
}

/// Sets `row.firstStage` and `row.lastStage` to the lowest and the highest
/// stage that the pipeline ranks `begin` to `end` - 1 run. `stagePositions[s]`
/// is the pipeline rank that runs stage s.
static void setStages(RankRow &row, std::span<const int32_t> stagePositions,
                      size_t begin, size_t end) {
  row.firstStage = int(stagePositions.size());
  for (size_t stage = 0; stage < stagePositions.size(); ++stage)
    if (size_t(stagePositions[stage]) >= begin &&
        size_t(stagePositions[stage]) < end) {
      row.firstStage = std::min(row.firstStage, int(stage));
      row.lastStage = int(stage);
    }
}

RankTable tabulate(std::span<const RankReport> ranks,
                   std::span<const int32_t> stagePositions, size_t mostRows) {
  RankTable table;
  if (ranks.empty() || stagePositions.empty())
    return table;
  table.steps = ranks[0].steps.size();
  const size_t positions =
      size_t(*std::max_element(stagePositions.begin(), stagePositions.end())) +
      1;
  const size_t perPosition = ranks.size() / positions;
  const size_t perRow = (positions + mostRows - 1) / mostRows;
  for (size_t begin = 0; begin < positions; begin += perRow) {
    const size_t end = std::min(begin + perRow, positions);
    RankRow &row = table.rows.emplace_back();
    row.first = int(begin * perPosition);
    row.last = int(end * perPosition) - 1;
    setStages(row, stagePositions, begin, end);
    summarize(row, ranks, durationsOf(row, ranks));
  }
  table.whole.last = int(ranks.size()) - 1;
  table.whole.lastStage = int(stagePositions.size()) - 1;
  summarize(table.whole, ranks, slowestSteps(ranks));
  return table;
}

/// Returns "3" for one number, otherwise a range such as "0-3".
static std::string rangeText(int first, int last) {
  return std::to_string(first) +
         (last > first ? "-" + std::to_string(last) : "");
}

/// Returns a number of bytes as text; "-" for 0.
static std::string memoryText(int64_t bytes) {
  return bytes ? bytesText(double(bytes)) : "-";
}

/// Returns the cells of one row of the text table. `ranks` is the first cell,
/// such as "0-3" or "all". The last cell is the peak.
static std::vector<std::string> cellsOf(const RankRow &row,
                                        const std::string &ranks) {
  return {ranks,
          rangeText(row.firstStage, row.lastStage),
          secondsText(row.step.median),
          secondsText(row.step.min),
          secondsText(row.step.max),
          shareText(row.compute),
          shareText(row.idle()),
          shareText(row.collectives),
          memoryText(row.weights),
          memoryText(row.state),
          memoryText(row.arena),
          memoryText(row.peak)};
}

/// Returns the table as text for the user. If there are several rows, appends a
/// row about all ranks. Leaves out the peak if ranks share a process.
static TextTable textTable(const RankTable &table) {
  TextTable text{{"ranks", "stages", "step (median)", "min", "max", "compute",
                  "idle", "collectives", "weights", "state", "arena", "peak"},
                 {}};
  for (const RankRow &row : table.rows)
    text.rows.push_back(cellsOf(row, rangeText(row.first, row.last)));
  if (table.rows.size() > 1)
    text.rows.push_back(cellsOf(table.whole, "all"));
  if (table.sharesProcess) {
    text.titles.pop_back();
    for (std::vector<std::string> &row : text.rows)
      row.pop_back();
  }
  return text;
}

/// Returns a line about the duration of a step, such as "step 41.2 ms +- 0.4 ms
/// (median of 10 steps, p90 42.0 ms, p99 45.1 ms), 194 samples/s, slowest is
/// rank 3". If ranks share a process, a line about its peak follows.
static std::string closingLine(const RankTable &table) {
  const StepSpread &step = table.whole.step;
  std::string line = "step " + secondsText(step.median);
  if (table.steps > 1)
    line += " +- " + secondsText(step.deviation) + " (median of " +
            countText(int64_t(table.steps), "step") + ", p90 " +
            secondsText(step.p90) + ", p99 " + secondsText(step.p99) + ")";
  else
    line += " (one step)";
  line += ", " + roundText(table.samplesPerSecond()) + " samples/s";
  if (table.whole.last > 0)
    line += ", slowest is rank " + std::to_string(table.whole.slowest);
  if (table.sharesProcess)
    line += "\npeak memory of the process of all ranks: " +
            memoryText(table.whole.peak);
  return line + "\n";
}

/// Returns all fields of a row as a JSON object. Durations are in seconds, and
/// sizes in bytes. The fields compute, collectives and idle are shares of the
/// time.
static nlohmann::ordered_json jsonOf(const RankRow &row) {
  return {{"ranks", rangeText(row.first, row.last)},
          {"stages", rangeText(row.firstStage, row.lastStage)},
          {"median_seconds", row.step.median},
          {"min_seconds", row.step.min},
          {"max_seconds", row.step.max},
          {"p90_seconds", row.step.p90},
          {"p99_seconds", row.step.p99},
          {"deviation_seconds", row.step.deviation},
          {"compute", row.compute},
          {"collectives", row.collectives},
          {"idle", row.idle()},
          {"weight_bytes", row.weights},
          {"state_bytes", row.state},
          {"arena_bytes", row.arena},
          {"peak_memory_bytes", row.peak},
          {"slowest_rank", row.slowest}};
}

/// Returns all rows as JSON objects, and appends a row about all ranks. The
/// field "ranks" of this last row is "all".
static std::vector<nlohmann::ordered_json> rowsOf(const RankTable &table) {
  std::vector<nlohmann::ordered_json> rows;
  for (const RankRow &row : table.rows)
    rows.push_back(jsonOf(row));
  rows.push_back(jsonOf(table.whole));
  rows.back()["ranks"] = "all";
  for (nlohmann::ordered_json &row : rows)
    roundNumbers(row);
  return rows;
}

/// Returns all rows as comma-separated values.
static std::string csvOf(const RankTable &table) {
  TextTable text;
  for (const nlohmann::ordered_json &fields : rowsOf(table)) {
    text.titles.clear();
    std::vector<std::string> &row = text.rows.emplace_back();
    for (const auto &[name, value] : fields.items()) {
      text.titles.push_back(name);
      row.push_back(value.is_string() ? value.get<std::string>()
                                      : value.dump());
    }
  }
  return csvText(text);
}

std::string rankTableText(const RankTable &table, const std::string &format) {
  if (format == "csv")
    return csvOf(table);
  if (format == "md")
    return markdownText(textTable(table)) + "\n" + closingLine(table);
  if (format != "json")
    return alignedText(
               textTable(table),
               tableWidth(format.empty() ? STDERR_FILENO : STDOUT_FILENO)) +
           closingLine(table);
  const nlohmann::ordered_json json = {
      {"steps", table.steps},
      {"samples_per_second", table.samplesPerSecond()},
      {"ranks", rowsOf(table)}};
  return withRoundNumbers(json).dump(2) + "\n";
}

} // namespace pcc::runtime
