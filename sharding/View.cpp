//===- View.cpp - windowed reads of a dim: halos, slices, pads ------------===//
#include "sharding/View.h"
#include "sharding/Runs.h"
#include "status/Counted.h"

#include <algorithm>
#include <cassert>

namespace pcc::dist {

std::optional<int64_t> View::elementAt(int64_t i) const {
  assert(i >= 0 && i < size() && "no index of the view");
  int64_t block = i / length, j = i % length;
  for (const ViewPiece &piece : pieces)
    if (j >= piece.lo && j < piece.hi) {
      int64_t element =
          block * pitch + piece.source + piece.step * (j - piece.lo);
      if (element >= 0 && element < limit)
        return element;
    }
  return std::nullopt;
}

static int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t ceilDiv(int64_t a, int64_t b) { return -floorDiv(-a, b); }

/// Returns the range of indices of `piece` that read an element of `run`. Index
/// `lo` of the piece reads the element source + offset; `offset` is 0 in block
/// 0. The result may be empty (lo >= hi).
static Run within(const ViewPiece &piece, int64_t offset, Run run) {
  int64_t first = piece.source + offset, lo, hi;
  if (piece.step > 0) {
    lo = ceilDiv(run.lo - first, piece.step);
    hi = ceilDiv(run.hi - first, piece.step);
  } else {
    lo = ceilDiv(first - run.hi + 1, -piece.step);
    hi = floorDiv(first - run.lo, -piece.step) + 1;
  }
  return {piece.lo + std::max<int64_t>(lo, 0),
          std::min(piece.lo + hi, piece.hi)};
}

/// Returns a range [first, last) of block numbers that contains every block
/// with an index that reads an element in [lo, hi). The range may also contain
/// other blocks.
static std::pair<int64_t, int64_t> blocksOf(const View &view, int64_t lo,
                                            int64_t hi) {
  if (view.pitch <= 0)
    return {0, view.blocks};
  int64_t least = INT64_MAX, greatest = INT64_MIN;
  for (const ViewPiece &piece : view.pieces) {
    int64_t last = piece.source + piece.step * (piece.hi - piece.lo - 1);
    least = std::min({least, piece.source, last});
    greatest = std::max({greatest, piece.source, last});
  }
  if (view.pieces.empty())
    return {0, 0};
  return {std::max<int64_t>(0, ceilDiv(lo - greatest, view.pitch)),
          std::min(view.blocks, ceilDiv(hi - least, view.pitch))};
}

Runs View::indicesOf(const Runs &elements) const {
  Runs found;
  for (Run run : elements) {
    run.hi = std::min(run.hi, limit);
    if (run.lo >= run.hi)
      continue;
    auto [begin, end] = blocksOf(*this, run.lo, run.hi);
    for (int64_t block = begin; block < end; ++block)
      for (const ViewPiece &piece : pieces)
        if (Run at = within(piece, block * pitch, run); at.lo < at.hi)
          found.push_back({block * length + at.lo, block * length + at.hi});
  }
  // Windows may overlap, so a later run may lie in an earlier block.
  std::sort(found.begin(), found.end(),
            [](const Run &a, const Run &b) { return a.lo < b.lo; });
  Runs merged;
  for (const Run &run : found)
    if (!merged.empty() && merged.back().hi == run.lo)
      merged.back().hi = run.hi;
    else
      merged.push_back(run);
  return merged;
}

/// Returns whether the elements that `piece` reads, over all blocks, can be
/// computed without overflow.
static bool isBounded(const View &view, const ViewPiece &piece) {
  int64_t across, along, sum;
  return !__builtin_mul_overflow(view.pitch, view.blocks, &across) &&
         !__builtin_mul_overflow(piece.step, piece.hi - piece.lo, &along) &&
         !__builtin_add_overflow(across, along, &sum) &&
         !__builtin_add_overflow(sum, piece.source, &sum) &&
         !__builtin_add_overflow(across, piece.source, &sum);
}

std::optional<std::string> findError(const View &view, int64_t dimSize) {
  int64_t size, end = 0;
  if (view.blocks < 1 || view.length < 1 ||
      __builtin_mul_overflow(view.blocks, view.length, &size))
    return "a view of " + counted(view.blocks, "block") + " of " +
           std::to_string(view.length);
  if (view.limit < 0 || view.limit > dimSize)
    return "a view of " + counted(view.limit, "element") + ", the dim has " +
           std::to_string(dimSize);
  for (const ViewPiece &piece : view.pieces) {
    if (piece.lo < end || piece.hi <= piece.lo || piece.hi > view.length ||
        piece.step == 0 || !isBounded(view, piece))
      return "a view with the piece " + std::to_string(piece.lo) + ".." +
             std::to_string(piece.hi) + " in blocks of " +
             std::to_string(view.length);
    end = piece.hi;
  }
  return std::nullopt;
}

std::string toString(const View &view) {
  std::string text = "view(" + std::to_string(view.blocks) + "x" +
                     std::to_string(view.length) + " by " +
                     std::to_string(view.pitch) + " of " +
                     std::to_string(view.limit) + ":";
  const char *separator = " ";
  for (const ViewPiece &piece : view.pieces) {
    text += separator + std::to_string(piece.lo) + ".." +
            std::to_string(piece.hi) + " from " + std::to_string(piece.source);
    if (piece.step != 1)
      text += " step " + std::to_string(piece.step);
    separator = ", ";
  }
  return text + ")";
}

size_t hashValue(const View &view) {
  size_t seed = 17;
  auto mix = [&](int64_t value) {
    seed = seed * 1000003 + static_cast<size_t>(value);
  };
  for (int64_t value : {view.blocks, view.length, view.pitch, view.limit})
    mix(value);
  for (const ViewPiece &piece : view.pieces)
    for (int64_t value : {piece.lo, piece.hi, piece.source, piece.step})
      mix(value);
  return seed;
}

} // namespace pcc::dist
