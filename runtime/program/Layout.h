//===- Layout.h - layouts: the shard of a tensor that a rank holds --------===//
//
// A dim is an ordered list of factors, major first, whose sizes multiply to the
// dim. Each factor is divided into ceil-sized pieces, as many as the product of
// its parts' sizes. The mesh coordinates of a rank select one piece:
//
//   192 columns on tp=2                [192@tp]        rank 1: 96..191
//   fused q, k, v of 64 columns each   [3, 64@tp]      rank 1: 32..63, 96..127,
//                                                              160..191
//   30 heads of 64 on tp=4             [30@tp, 64]     8, 8, 8 and 6 heads
//   2 kv heads on tp=4                 [2@tp:(1)2, 64] ranks 0, 1 hold head 0
//
// Local elements keep the nested order of the factors. Short pieces are padded
// at the end of the factor's local range. Padding elements have undefined
// values.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_LAYOUT_H
#define PCC_RUNTIME_PROGRAM_LAYOUT_H

#include "runtime/tensor/StridedCopy.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pcc::runtime {

/// One digit of a mesh coordinate (a sub-axis). An axis of size n is reshaped
/// to [pre, size, n / (pre * size)], and the digit is the index in the middle.
/// A whole axis `a` is {a, 1, n}.
struct AxisPart {
  int32_t axis = 0;
  int32_t pre = 1;
  int32_t size = 1;
  bool operator==(const AxisPart &) const = default;
};

/// One factor of a dim, and the digits that divide it.
struct Factor {
  int64_t size = 1;
  /// Digits that select the piece, most significant first; empty if the factor
  /// is not divided.
  std::vector<AxisPart> parts = {};
  bool operator==(const Factor &) const = default;
};

/// Factors of one dim, major first.
using DimLayout = std::vector<Factor>;

/// Division of a tensor: one DimLayout per dim. The rank's coordinates select
/// what it holds; axes that no factor uses replicate the tensor.
struct Layout {
  std::vector<DimLayout> dims;
  bool operator==(const Layout &) const = default;
};

/// One run of indices in each block of a view. In block 0, the indices [lo, hi)
/// hold the elements source, source + step, source + 2 * step, …
struct ViewPiece {
  int64_t lo, hi, source, step;
  bool operator==(const ViewPiece &) const = default;
};

/// A rearrangement of a dim that a layout divides instead of the dim itself. A
/// view expresses halos (GSPMD, Xu et al. 2021), slices, rolls and padding, for
/// which a rank needs other elements than a piece of the dim. The view has
/// `blocks` blocks of `length` indices, and block p reads the elements of block
/// 0 shifted by p * pitch. An index is a hole, and holds 0, if no piece covers
/// it or if its element lies outside [0, limit).
///
/// Example: a 3-row window over 16 rows on 4 ranks is 4 blocks of length 6 with
/// pitch 4 and the piece {0, 6, -1, 1}. Rank 1 holds the indices 6..11, which
/// are the elements 3..8: its own rows 4..7 and a halo of one row on each side.
struct View {
  /// Number of blocks; 0 means that the layout divides the dim itself.
  int64_t blocks = 0;
  /// Indices per block.
  int64_t length = 0;
  /// Distance in elements between the first elements of adjacent blocks.
  int64_t pitch = 0;
  /// Bound of valid elements; at most the size of the dim.
  int64_t limit = 0;
  /// Pieces of one block, ascending and disjoint.
  std::vector<ViewPiece> pieces = {};
  bool operator==(const View &) const = default;
};

/// Returns the shape after the views: blocks * length for each dim with a view,
/// the size in `shape` for the others. `views` is empty or has one entry per
/// dim.
std::vector<int64_t> viewedShape(std::span<const View> views,
                                 std::span<const int64_t> shape);

/// Checks the view of a dim of `size` elements. Returns null if the view is
/// valid, otherwise what is wrong with it.
const char *findViewFault(const View &view, int64_t size);

/// Sizes of the mesh axes in rank order (most significant first), followed by
/// the number of microbatches. The last entry is the size of the pseudo axis
/// "mb", whose coordinate is the current microbatch.
struct Mesh {
  std::vector<int64_t> sizes;

  /// Returns the number of axes without "mb".
  int32_t numAxes() const { return static_cast<int32_t>(sizes.size()) - 1; }
  /// Returns the index of the pseudo axis "mb".
  int32_t microbatchAxis() const { return numAxes(); }
  /// Returns the number of ranks.
  int64_t numRanks() const;
};

/// One value per entry of Mesh::sizes: the coordinates of a rank, and a
/// microbatch.
using Coordinates = std::vector<int64_t>;

/// Returns the coordinates of `rank` in microbatch 0.
Coordinates coordinatesOf(const Mesh &mesh, int64_t rank);
/// Returns the rank at these coordinates; the microbatch is ignored.
int64_t rankOf(const Mesh &mesh, const Coordinates &at);

/// Returns the digit that `part` selects from the coordinate of its axis.
int64_t digitOf(const AxisPart &part, const Mesh &mesh, const Coordinates &at);

/// Returns the layout of a tensor that is not divided: every rank holds all of
/// it.
Layout wholeLayout(std::span<const int64_t> shape);

/// Returns the shape of the whole tensor.
std::vector<int64_t> globalShape(const Layout &layout);
/// Returns the shape of a rank's piece. Padding is included, so the shape is
/// equal on all ranks.
std::vector<int64_t> localShape(const Layout &layout);
/// Returns the product of the sizes.
int64_t numElements(std::span<const int64_t> shape);

/// Checks a layout against a mesh and a global shape. Returns null if the
/// layout is valid, otherwise what is wrong with it. In a valid layout the
/// factors multiply to the dims, no size is negative, the axes exist, and the
/// digits divide their axes and are disjoint.
const char *findLayoutFault(const Layout &layout, const Mesh &mesh,
                            std::span<const int64_t> shape);

/// Half-open range of global indices of a dim.
struct Run {
  int64_t begin;
  int64_t end;
  bool operator==(const Run &) const = default;
};

/// Returns, for each dim, the global indices that a rank holds: ascending
/// ranges, of which adjacent ones are merged. The list of a dim is empty if the
/// rank holds only padding of it.
std::vector<std::vector<Run>> indexRuns(const Layout &layout, const Mesh &mesh,
                                        const Coordinates &at);

/// One side of a copy: a layout at the coordinates of one rank. The pointers
/// are borrowed.
struct LocatedLayout {
  const Layout *layout;
  const Coordinates *at;
  /// Strides of the dims in elements; empty for dense row-major memory of the
  /// local shape.
  std::vector<int64_t> strides = {};
  /// Views through which a target reads the dims; empty if it reads the dims
  /// directly. Views of a source are ignored.
  std::span<const View> views = {};
};

/// Returns the copies that move the elements which both sides hold from the
/// source's memory to the target's memory. Both layouts must divide the same
/// global shape; if the target has views, its layout divides the viewed shape.
/// The copies are simplified and write disjoint elements.
std::vector<StridedCopy> intersect(const LocatedLayout &source,
                                   const LocatedLayout &target,
                                   const Mesh &mesh);

/// Indices of a dim that are contiguous both globally and in local memory:
/// `length` indices from `global` on, which begin at local index `local`.
struct Segment {
  int64_t local;
  int64_t global;
  int64_t length;
};

/// Part of a tensor in a dense row-major memory of `shape`. Each dim lists
/// ascending segments; the part consists of all combinations of them.
struct LocalPart {
  std::vector<std::vector<Segment>> dims;
  std::vector<int64_t> shape;
};

/// Returns the part that a rank holds; `shape` includes padding.
LocalPart localPart(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Returns the part that consists of `runs` (one list per dim), stored without
/// padding.
LocalPart packedPart(std::span<const std::vector<Run>> runs);

/// Returns the copies that move the elements which both parts hold from the
/// source's memory to the target's memory.
std::vector<StridedCopy> intersect(const LocalPart &source,
                                   const LocalPart &target);

/// Returns the number of the piece that a rank holds. Ranks with equal numbers
/// hold the same piece.
int64_t pieceNumber(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Returns whether the rank at `at` is the lowest of the replicas of its piece.
/// Only ranks at the same position (coordinate on axis 0) and in the same
/// microbatch are compared.
bool isLowestHolder(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Returns whether the layout divides a dim along `axis`.
bool usesAxis(const Layout &layout, int32_t axis);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_LAYOUT_H
