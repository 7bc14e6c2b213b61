//===- ShardPicture.cpp - parts of tensors as ranks hold them -------------===//

#include "runtime/program/ShardPicture.h"
#include "runtime/base/TextTable.h"
#include "status/Counted.h"

#include <algorithm>
#include <optional>
#include <set>

namespace pcc::runtime {

/// Largest number of rows and of columns of cells in a picture (`mostParts`),
/// and largest width of a picture in characters (`mostWidth`).
static constexpr size_t mostParts = 16, mostWidth = 100;

std::string rankListText(const std::vector<int64_t> &ranks) {
  constexpr size_t mostRanges = 4;
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int64_t rank : ranks)
    if (!ranges.empty() && rank == ranges.back().second + 1)
      ranges.back().second = rank;
    else
      ranges.emplace_back(rank, rank);
  std::string text = ranges.empty() ? "" : "rank";
  const bool isLong = ranges.size() > mostRanges;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto &[first, last] = ranges[i];
    if (isLong && i == 2)
      text += " …";
    if (isLong && i >= 2 && i + 1 < ranges.size())
      continue;
    text += " " + std::to_string(first) +
            (last > first ? "-" + std::to_string(last) : "");
  }
  return isLong ? text + " (" + counted(ranks.size(), "rank") + ")" : text;
}

std::string titleOf(const HeldTensor &tensor) {
  std::string sizes;
  for (int64_t size : tensor.shape)
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  return tensor.name + " " + tensor.dtype + "[" + sizes + "]";
}

static bool holds(const dist::Runs &runs, int64_t index) {
  return std::any_of(runs.begin(), runs.end(), [&](const dist::Run &run) {
    return run.lo <= index && index < run.hi;
  });
}

/// Returns `text` in the middle of `width` columns.
static std::string centered(const std::string &text, size_t width) {
  const size_t free = width - widthOf(text);
  return std::string(free / 2, ' ') + text + std::string(free - free / 2, ' ');
}

/// Returns a horizontal line of a picture with `columns` cells.
static std::string ruleText(const char *begin, const char *between,
                            const char *end, size_t columns, size_t width) {
  std::string cell;
  for (size_t i = 0; i < width; ++i)
    cell += "─";
  std::string text = begin;
  for (size_t i = 0; i < columns; ++i)
    text += (i ? between : "") + cell;
  return text + end + "\n";
}

namespace {
/// Draws how ranks divide one tensor. The ends of the ranks' index ranges cut
/// each dim into parts. Example: one rank holds the indices [0, 4) of a dim,
/// and another rank holds [2, 6). The parts are [0, 2), [2, 4) and [4, 6).
class ShardDrawer {
public:
  explicit ShardDrawer(const HeldTensor &tensor) : tensor(tensor) {
    for (size_t dim = 0; dim < tensor.shape.size(); ++dim) {
      std::set<int64_t> cuts = {0, tensor.shape[dim]};
      for (const auto &[rank, runs] : tensor.parts)
        for (const dist::Run &run : runs[dim])
          cuts.insert({run.lo, run.hi});
      borders.emplace_back(cuts.begin(), cuts.end());
    }
  }

  std::string draw() {
    chooseDims();
    std::vector<std::vector<std::string>> cells = cellsOf(mostParts);
    if (!rowDim && columnDim && numFitting(cells) < cells[0].size()) {
      std::swap(rowDim, columnDim);
      cells = cellsOf(mostParts);
    }
    cells = cellsOf(numFitting(cells));
    const size_t width = widthOfCells(cells);
    std::string text = ruleText("┌", "┬", "┐", cells[0].size(), width);
    for (size_t row = 0; row < cells.size(); ++row) {
      text += row ? ruleText("├", "┼", "┤", cells[0].size(), width) : "";
      for (const std::string &cell : cells[row])
        text += "│" + centered(cell, width);
      text += "│\n";
    }
    text += ruleText("└", "┴", "┘", cells[0].size(), width);
    return text + hiddenText(cells);
  }

private:
  using Dim = std::optional<size_t>;
  using Cells = std::vector<std::vector<std::string>>;

  size_t numParts(Dim dim) const { return dim ? borders[*dim].size() - 1 : 1; }

  /// Chooses the dims that become the rows and the columns of the picture. If
  /// two or more dims are divided, the first becomes the rows, and the second
  /// becomes the columns. If only one dim is divided, it becomes the columns if
  /// it is the last dim of the tensor, else the rows.
  void chooseDims() {
    std::vector<size_t> divided;
    for (size_t dim = 0; dim < borders.size(); ++dim)
      if (numParts(dim) > 1)
        divided.push_back(dim);
    if (divided.size() > 1)
      rowDim = divided[0], columnDim = divided[1];
    else if (!divided.empty())
      (divided[0] + 1 == borders.size() ? columnDim : rowDim) = divided[0];
  }

  /// Returns whether a rank holds part number `part` of `dim`. `runs` contains
  /// the index ranges that the rank holds, for each dim. Returns true if `dim`
  /// is std::nullopt.
  bool holdsPart(const std::vector<dist::Runs> &runs, Dim dim,
                 size_t part) const {
    return !dim || holds(runs[*dim], borders[*dim][part]);
  }

  /// Returns the texts of the cells, such as "rank 0-2". Each cell stands for
  /// one part of the tensor, and names the ranks that hold this part. A row has
  /// at most `mostColumns` cells.
  Cells cellsOf(size_t mostColumns) const {
    Cells cells(std::min(numParts(rowDim), mostParts));
    for (size_t row = 0; row < cells.size(); ++row)
      for (size_t column = 0;
           column < std::min(numParts(columnDim), mostColumns); ++column) {
        std::vector<int64_t> ranks;
        for (const auto &[rank, runs] : tensor.parts)
          if (holdsPart(runs, rowDim, row) &&
              holdsPart(runs, columnDim, column))
            ranks.push_back(rank);
        cells[row].push_back(rankListText(ranks));
      }
    return cells;
  }

  /// Returns the width of a cell in characters: the width of the longest text
  /// in `cells`, and a space on both sides.
  static size_t widthOfCells(const Cells &cells) {
    size_t width = 0;
    for (const auto &row : cells)
      for (const std::string &cell : row)
        width = std::max(width, widthOf(cell));
    return width + 2;
  }

  /// Returns how many columns of `cells` fit into `mostWidth` characters; at
  /// least 1.
  static size_t numFitting(const Cells &cells) {
    const size_t columns = (mostWidth - 1) / (widthOfCells(cells) + 1);
    return std::clamp<size_t>(columns, 1, cells[0].size());
  }

  std::string hiddenText(const Cells &cells) const {
    const size_t hidden = std::max(numParts(rowDim) - cells.size(),
                                   numParts(columnDim) - cells[0].size());
    return hidden ? "and " + std::to_string(hidden) + " more parts of a dim\n"
                  : "";
  }

  const HeldTensor &tensor;
  /// For each dim, the indices at which a part begins or ends.
  std::vector<std::vector<int64_t>> borders;
  Dim rowDim, columnDim;
};
} // namespace

std::string shardPicture(const HeldTensor &tensor) {
  return ShardDrawer(tensor).draw();
}

} // namespace pcc::runtime
