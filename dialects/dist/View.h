//===- View.h - A dim seen through windows --------------------------------===//
//
// What a rank needs of a dim is not always a part of it: a convolution over
// rows needs the rows around its own, a slice needs rows that lie on others, a
// padded or rolled dim has them at other places. A view lists which element of
// the dim lies at each index of another dim, in equal blocks:
//
//   index b = p · length + j   ->   element p · pitch + (a piece's own at j)
//
//   16 rows on 4 ranks, 3x3 windows    4 blocks of 6 by 4: 0..6 from -1
//   x[3:11]                            1 block of 8:       0..8 from 3
//   roll by one of 8                   1 block of 8:       0..7 from 1, 7..8
//                                                          from 0
//
// Indices without an element, those that no piece holds or whose element would
// lie outside [0, limit), are holes: they hold 0.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_DIALECTS_DIST_VIEW_H
#define PCC_DIALECTS_DIST_VIEW_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pcc::dist {

struct Run;

struct ViewPiece {
  /// Indices [lo, hi) of each block.
  int64_t lo = 0, hi = 0;
  /// The element at `lo` in block 0, and the distance of neighbours, not 0.
  int64_t source = 0, step = 1;

  bool operator==(const ViewPiece &) const = default;
};

struct View {
  int64_t blocks = 1;
  /// Indices of one block.
  int64_t length = 0;
  /// Elements from one block to the next.
  int64_t pitch = 0;
  /// Elements behind are not looked at; at most the size of the dim.
  int64_t limit = 0;
  /// Ascending and disjoint within [0, length).
  std::vector<ViewPiece> pieces;

  int64_t size() const { return blocks * length; }

  /// The element at index `i`; nothing where there is a hole.
  std::optional<int64_t> elementAt(int64_t i) const;

  /// The indices, ascending, whose elements lie in `elements`.
  std::vector<Run> indicesOf(const std::vector<Run> &elements) const;

  bool operator==(const View &) const = default;
};

/// Why the view does not fit a dim of `dimSize` elements.
std::optional<std::string> findError(const View &view, int64_t dimSize);

/// `view(4x6 by 4 of 16: 0..6 from -1)`, a step other than 1 as `step 2`.
std::string toString(const View &view);

size_t hashValue(const View &view);

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_VIEW_H
