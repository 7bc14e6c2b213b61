//===- Layout.h - which indices of a tensor a rank holds ------------------===//
//
// A dim is an ordered list of factors, major first, whose sizes multiply to the
// dim. Each factor is cut in ceil-sized pieces over the product of its parts:
//
//   192 columns on tp=2                [192@tp]        rank 1: 96..191
//   fused q, k, v of 64 columns each   [3, 64@tp]      rank 1: 32..63, 96..127,
//                                                              160..191
//   30 heads of 64 on tp=4             [30@tp, 64]     8, 8, 8 and 6 heads
//   2 kv heads on tp=4                 [2@tp:(1)2, 64] ranks 0, 1 hold head 0
//
// Local elements are in the same nested order. Short pieces are padded at the
// end of the factor's local range; padding holds anything.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_LAYOUT_H
#define PCC_RUNTIME_PROGRAM_LAYOUT_H

#include "runtime/tensor/StridedCopy.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pcc::runtime {

/// One digit of a coordinate: the axis of size n reshaped to
/// [pre, size, n / (pre * size)], the middle taken. A whole axis is {a, 1, n}.
struct AxisPart {
  int32_t axis = 0;
  int32_t pre = 1;
  int32_t size = 1;
  bool operator==(const AxisPart &) const = default;
};

struct Factor {
  int64_t size = 1;
  std::vector<AxisPart> parts = {}; ///< first is major
  bool operator==(const Factor &) const = default;
};

using DimLayout = std::vector<Factor>;

struct Layout {
  std::vector<DimLayout> dims;
  bool operator==(const Layout &) const = default;
};

/// Indices [lo, hi) of each block of a view hold elements `source`, `source +
/// step`, … (in block 0).
struct ViewPiece {
  int64_t lo, hi, source, step;
  bool operator==(const ViewPiece &) const = default;
};

/// A dim as a layout sees it that wants other elements than a part of it:
/// `blocks` blocks of `length` indices, each `pitch` elements behind the one
/// before. Indices that no piece holds, or whose element would lie outside
/// [0, limit), are holes. No blocks: the dim as it is.
struct View {
  int64_t blocks = 0;
  int64_t length = 0;
  int64_t pitch = 0;
  int64_t limit = 0;
  std::vector<ViewPiece> pieces = {};
  bool operator==(const View &) const = default;
};

/// The sizes of the dims as `views` see them; `views` is empty or has one per
/// dim.
std::vector<int64_t> viewedShape(std::span<const View> views,
                                 std::span<const int64_t> shape);

/// What is wrong with the view of a dim of `size` elements, or null.
const char *findViewFault(const View &view, int64_t size);

/// Sizes of the mesh axes in rank order (first is major), then the number of
/// microbatches: the pseudo axis "mb" is index `sizes.size() - 1`.
struct Mesh {
  std::vector<int64_t> sizes;

  int32_t numAxes() const { return static_cast<int32_t>(sizes.size()) - 1; }
  int32_t microbatchAxis() const { return numAxes(); }
  /// Number of ranks.
  int64_t numRanks() const;
};

/// One value per entry of Mesh::sizes.
using Coordinates = std::vector<int64_t>;

/// Coordinates of a rank in microbatch 0.
Coordinates coordinatesOf(const Mesh &mesh, int64_t rank);
int64_t rankOf(const Mesh &mesh, const Coordinates &at);

/// The digit that `part` takes of the coordinate of its axis.
int64_t digitOf(const AxisPart &part, const Mesh &mesh, const Coordinates &at);

/// Every factor holds the whole dim: the layout of an undivided tensor.
Layout wholeLayout(std::span<const int64_t> shape);

std::vector<int64_t> globalShape(const Layout &layout);
/// Padding included; the same for all ranks.
std::vector<int64_t> localShape(const Layout &layout);
int64_t numElements(std::span<const int64_t> shape);

/// What is wrong with the layout for this mesh and global shape, or null: every
/// size positive, axes in range, digits dividing their axis and disjoint.
const char *findLayoutFault(const Layout &layout, const Mesh &mesh,
                            std::span<const int64_t> shape);

/// Half-open range of global indices.
struct Run {
  int64_t begin;
  int64_t end;
  bool operator==(const Run &) const = default;
};

/// Per dim the runs of global indices that are held at a coordinate, in local
/// order, merged where they touch. A dim of which nothing is held has none.
std::vector<std::vector<Run>> indexRuns(const Layout &layout, const Mesh &mesh,
                                        const Coordinates &at);

/// A layout at one coordinate, stored with these element strides (empty: dense
/// row-major over the local shape).
struct LocatedLayout {
  const Layout *layout;
  const Coordinates *at;
  std::vector<int64_t> strides = {};
  /// How a target sees the dims; empty: as they are.
  std::span<const View> views = {};
};

/// Copies that move what both sides hold from `source` to `target`, in
/// elements. Both layouts are of one global shape, that of the target as its
/// views have it.
std::vector<StridedCopy> intersect(const LocatedLayout &source,
                                   const LocatedLayout &target,
                                   const Mesh &mesh);

/// `length` indices of a dim, from `global` on, that lie densely from `local`
/// on.
struct Segment {
  int64_t local;
  int64_t global;
  int64_t length;
};

/// What is held of a tensor: per dim ascending segments of a dense row-major
/// memory of `shape`.
struct LocalPart {
  std::vector<std::vector<Segment>> dims;
  std::vector<int64_t> shape;
};

/// What a coordinate holds, padding included.
LocalPart localPart(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// What `runs` hold per dim, one behind the other.
LocalPart packedPart(std::span<const std::vector<Run>> runs);

/// Copies that move what both hold.
std::vector<StridedCopy> intersect(const LocalPart &source,
                                   const LocalPart &target);

/// Number of the piece that is held at a coordinate: equal numbers hold equal
/// parts of the tensor.
int64_t pieceNumber(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Whether no rank with a lower number in the same microbatch and the same
/// coordinate on axis 0 holds the same part.
bool isLowestHolder(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Whether the layout cuts along `axis`.
bool usesAxis(const Layout &layout, int32_t axis);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_LAYOUT_H
