//===- TrainingLine.h - metrics of a training step on a terminal ----------===//

#ifndef PCC_RUNTIME_BASE_TRAININGLINE_H
#define PCC_RUNTIME_BASE_TRAININGLINE_H

#include <cstdint>
#include <optional>
#include <string>

namespace pcc::runtime {

/// Metrics of one training step as a terminal shows them. An unknown metric is
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
  /// Whether this process runs all ranks.
  bool isPeakOfAll = false;
  std::optional<double> secondsLeft = {};
  /// Whether the line stays on the terminal. If false, the next line overwrites
  /// it.
  bool isKept = true;
};

/// Returns the line without a line break, in at most `columns` columns. The
/// fields are aligned with the fields of other lines. If a line has no space
/// for all fields, it leaves out whole fields, the least important first. It
/// always contains the step and the loss:
///
///   step  120/1000  loss   3.2187  grad  1.84  lr 0.001  left 4:31
///
/// With `hasColor`, titles are dim, and a value that is not finite is red.
std::string textOf(const TrainingLine &line, size_t columns, bool hasColor);

/// Returns the fields of `line` as one line of text for another process.
std::string packed(const TrainingLine &line);
/// Parses `text`, which packed() has returned in another process. Returns
/// std::nullopt if `text` has a different format.
std::optional<TrainingLine> unpacked(const std::string &text);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_BASE_TRAININGLINE_H
