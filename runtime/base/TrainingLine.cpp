//===- TrainingLine.cpp - metrics of a training step on a terminal --------===//

#include "runtime/base/TrainingLine.h"
#include "runtime/base/QuantityText.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace pcc::runtime {

namespace {
/// A column of the line: its title, its value, and the width of the value.
struct Cell {
  std::string title, value;
  size_t width;
  /// Order in which columns are removed on a narrow terminal: the column with
  /// the largest number is removed first. A column with the number 0 is never
  /// removed.
  int removalOrder;
  bool isBad = false;

  /// Returns `value`, right-aligned in `width` characters.
  std::string aligned() const {
    return std::string(width - std::min(width, value.size()), ' ') + value;
  }
  size_t size() const { return title.size() + 1 + aligned().size(); }
};
} // namespace

/// Returns `number` in the format `format` of printf.
static std::string formatted(const char *format, double number) {
  // snprintf() may print "-nan". Omit the sign, because it means nothing.
  if (std::isnan(number))
    return "nan";
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), format, number);
  return text.data();
}

/// Returns the columns of the line, in their order.
static std::vector<Cell> cellsOf(const TrainingLine &line) {
  const std::string last = std::to_string(line.lastStep);
  std::vector<Cell> cells = {
      {"step", std::to_string(line.step) + "/" + last, 2 * last.size() + 1, 0},
      {"loss", formatted("%.5g", line.loss), 8, 0, !std::isfinite(line.loss)}};
  if (line.gradNorm)
    cells.push_back({"grad", formatted("%.3g", *line.gradNorm), 6, 3,
                     !std::isfinite(*line.gradNorm)});
  if (line.learningRate)
    cells.push_back({"lr", formatted("%.3g", *line.learningRate), 6, 4});
  cells.push_back({line.countsTokens ? "tokens/s" : "samples/s",
                   roundText(line.rate), 5, 2});
  if (line.mfu)
    cells.push_back({"MFU", formatted("%.1f %%", 100 * *line.mfu), 6, 5});
  if (line.peakBytes)
    cells.push_back({line.isPeakOfAll ? "peak of all" : "peak",
                     bytesText(*line.peakBytes), 9, 6});
  if (line.secondsLeft)
    cells.push_back({"left", clockText(*line.secondsLeft), 0, 1});
  return cells;
}

/// Removes columns until the rest fits into `columns` characters. Removes the
/// column with the largest Cell::removalOrder first.
static void fit(std::vector<Cell> &cells, size_t columns) {
  const auto widthOfAll = [&] {
    size_t width = 2 * (cells.size() - 1);
    for (const Cell &cell : cells)
      width += cell.size();
    return width;
  };
  while (widthOfAll() > columns) {
    const auto least = std::max_element(
        cells.begin(), cells.end(), [](const Cell &a, const Cell &b) {
          return a.removalOrder < b.removalOrder;
        });
    if (least->removalOrder == 0)
      return;
    cells.erase(least);
  }
}

std::string textOf(const TrainingLine &line, size_t columns, bool hasColor) {
  std::vector<Cell> cells = cellsOf(line);
  fit(cells, columns);
  std::string text;
  for (const Cell &cell : cells) {
    text += text.empty() ? "" : "  ";
    text += hasColor ? "\033[2m" + cell.title + "\033[0m " : cell.title + " ";
    text += hasColor && cell.isBad ? "\033[1;31m" + cell.aligned() + "\033[0m"
                                   : cell.aligned();
  }
  return text;
}

/// Returns `number` as text with up to 17 digits, so that unpacked() reads
/// exactly the same number. Returns "-" for nullopt.
static std::string word(std::optional<double> number) {
  std::array<char, 48> text = {"-"};
  if (number)
    std::snprintf(text.data(), text.size(), "%.17g", *number);
  return text.data();
}

std::string packed(const TrainingLine &line) {
  std::string text;
  for (std::optional<double> number :
       {std::optional(double(line.step)), std::optional(double(line.lastStep)),
        std::optional(line.loss), line.gradNorm, line.learningRate,
        std::optional(line.rate), std::optional(double(line.countsTokens)),
        line.mfu, line.peakBytes, std::optional(double(line.isPeakOfAll)),
        line.secondsLeft, std::optional(double(line.isKept))})
    text += (text.empty() ? "" : " ") + word(number);
  return text;
}

std::optional<TrainingLine> unpacked(const std::string &text) {
  std::istringstream words(text);
  std::vector<std::optional<double>> numbers;
  for (std::string word; words >> word;)
    numbers.push_back(word == "-"
                          ? std::nullopt
                          : std::optional(std::strtod(word.c_str(), nullptr)));
  if (numbers.size() != 12)
    return std::nullopt;
  const auto at = [&](size_t i) { return numbers[i].value_or(0); };
  return TrainingLine{.step = int64_t(at(0)),
                      .lastStep = int64_t(at(1)),
                      .loss = at(2),
                      .gradNorm = numbers[3],
                      .learningRate = numbers[4],
                      .rate = at(5),
                      .countsTokens = at(6) != 0,
                      .mfu = numbers[7],
                      .peakBytes = numbers[8],
                      .isPeakOfAll = at(9) != 0,
                      .secondsLeft = numbers[10],
                      .isKept = at(11) != 0};
}

} // namespace pcc::runtime
