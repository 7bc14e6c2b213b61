//===- View.h - windowed reads of a dim: halos, slices, pads --------------===//
//
// An op may need other elements of a dim than a part of it: a convolution over
// rows needs the neighbouring rows too (halo exchange; GSPMD, Xu et al. 2021),
// a slice needs rows that other ranks hold, and a padded or rolled dim has its
// rows at other indices. A view describes such a read as a new dim. The new dim
// consists of blocks of equal length, and each index maps to one element of the
// old dim:
//
//   index p · length + j   ->   element p · pitch + source + step · (j - lo)
//                               of the piece with lo <= j < hi
//
//   16 rows on 4 ranks, 3x3 windows    4 blocks of 6 by 4: 0..6 from -1
//   x[3:11]                            1 block of 8:       0..8 from 3
//   roll by one of 8                   1 block of 8:       0..7 from 1, 7..8
//                                                          from 0
//
// In the first line rank p reads the 6 rows from 4p - 1 on: its own 4 and one
// on each side. An index is a hole if no piece has it, or if its element would
// lie outside [0, limit). Holes hold 0.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_SHARDING_VIEW_H
#define PCC_SHARDING_VIEW_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pcc::dist {

struct Run;

/// A range of indices within a block of a view (windowed read of a dim). Its
/// indices read elements of the dim at a fixed step, in each block.
struct ViewPiece {
  /// The range [lo, hi) of indices within each block.
  int64_t lo = 0, hi = 0;
  /// `source` is the element that index `lo` reads in block 0. `step` is the
  /// distance between the elements that two successive indices read. It may be
  /// negative, but is not 0.
  int64_t source = 0, step = 1;

  bool operator==(const ViewPiece &) const = default;
};

/// A windowed read of one dim (halo exchange, slice or pad), described as a new
/// dim. The new dim has `blocks` blocks of `length` indices each, and all
/// blocks have the same pieces (index ranges that read elements).
struct View {
  int64_t blocks = 1;
  /// Number of indices in one block.
  int64_t length = 0;
  /// Distance, in elements of the dim, between the reads of two neighbouring
  /// blocks.
  int64_t pitch = 0;
  /// End of the elements that may be read, as an index into the dim. It is at
  /// most the size of the dim; indices that would read at or beyond it are
  /// holes.
  int64_t limit = 0;
  /// Pieces in ascending order, disjoint and within [0, length).
  std::vector<ViewPiece> pieces;

  /// Returns the number of indices of the view.
  int64_t size() const { return blocks * length; }

  /// Returns the element that index `i` reads, or nullopt if `i` is a hole (an
  /// index that reads no element).
  std::optional<int64_t> elementAt(int64_t i) const;

  /// Returns the indices of the view that read an element in one of the ranges
  /// `elements`, as ascending runs.
  std::vector<Run> indicesOf(const std::vector<Run> &elements) const;

  bool operator==(const View &) const = default;
};

/// Returns why `view` does not fit a dim of `dimSize` elements, or nullopt if
/// it fits.
std::optional<std::string> findError(const View &view, int64_t dimSize);

/// Returns the text of a view, such as `view(4x6 by 4 of 16: 0..6 from -1)`: 4
/// blocks of 6 indices; block p reads the elements from 4p - 1 on; the limit is
/// 16. A step other than 1 follows as `step 2`.
std::string toString(const View &view);

/// Returns a hash of all members; equal views have equal hashes.
size_t hashValue(const View &view);

} // namespace pcc::dist

#endif // PCC_SHARDING_VIEW_H
