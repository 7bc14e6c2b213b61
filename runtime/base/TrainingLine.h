//===- TrainingLine.h - metrics of a training step on a terminal ----------===//

#ifndef PCC_RUNTIME_BASE_TRAININGLINE_H
#define PCC_RUNTIME_BASE_TRAININGLINE_H

#include <cstdint>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Metrics of one training step as a terminal shows them. What is unknown is
/// std::nullopt.
struct TrainingLine {
  int64_t step = 0, lastStep = 0;
  double loss = 0;
  std::optional<double> gradNorm = {}, learningRate = {};
  /// Tokens per second if `countsTokens` is true, otherwise samples per second.
  double rate = 0;
  bool countsTokens = false;
  /// Model FLOPs utilization, from 0 to 1.
  std::optional<double> mfu = {};
  /// Largest resident set size of a process of the run, in bytes.
  std::optional<double> peakBytes = {};
  std::optional<double> secondsLeft = {};
  /// Whether the line stays. Otherwise the next one replaces it.
  bool isKept = true;
};

/// Returns the line without a line break, in at most `columns` columns. Columns
/// are aligned with those of other lines. Those that do not fit are left out
/// whole, the least important first; the step and the loss are always there:
///
///   step  120/1000  loss   3.2187  grad  1.84  lr 0.001  left 4:31
///
/// With `hasColor`, titles are dim, and a value that is not finite is red.
std::string textOf(const TrainingLine &line, size_t columns, bool hasColor);

/// Returns the fields of `line` as one line of text for another process.
std::string packed(const TrainingLine &line);
/// Converts the result of packed() back; std::nullopt if `text` is none.
std::optional<TrainingLine> unpacked(const std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_TRAININGLINE_H
