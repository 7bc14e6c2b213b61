//===- Layout.h - layouts: the shard of a tensor that a rank holds --------===//
//
// Programs describe how tensors are divided by the shardings of sharding/, over
// the mesh of all ranks:
//
//   192 columns on tp=2                [192@tp]        rank 1: 96..191
//   fused q, k, v of 64 columns each   [3|64@tp]       rank 1: 32..63, 96..127,
//                                                              160..191
//   30 heads of 64 on tp=4             [30@tp|64]      8, 8, 8 and 6 heads
//   2 kv heads on tp=4                 [2@tp:2|64]     ranks 0, 1 hold head 0
//
// Local elements keep the nested order of the factors. Short pieces are padded
// at the end of the factor's local range. Padding elements have undefined
// values.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_RUNTIME_PROGRAM_LAYOUT_H
#define PCC_RUNTIME_PROGRAM_LAYOUT_H

#include "runtime/tensor/StridedCopy.h"
#include "sharding/Runs.h"
#include "sharding/Sharding.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pcc::runtime {

// Types that compiler and runtime share.
using dist::Coordinates;
using dist::DimSharding;
using dist::Factor;
using dist::Mesh;
using dist::Run;
using dist::Runs;
using dist::SubAxes;
using dist::SubAxis;
using dist::View;
using dist::ViewPiece;

/// Division of a tensor over ranks. The size of each dim is written as a
/// product of factors. For example, a dim of 24 elements with the factors 4 and
/// 6 is read as a matrix of 4 rows and 6 columns. Each factor is either whole
/// or split over mesh axes. For example, if the factor 6 is split over 2 ranks,
/// the first rank holds columns 0 to 2 of every row.
///
/// The size of a dim is the product of its factors. A dim that is not split
/// therefore has a factor too, such as the single factor 24.
///
/// The type dist::Sharding can also describe a tensor that still needs a
/// reduction over ranks, such as a sum. A layout never describes such a tensor.
/// A view is a windowed read of a dim, such as a halo. Only the layout of a
/// collective's result may have views.
using Layout = dist::Sharding;

/// Returns the number of ranks of a program's mesh: the product of all axis
/// sizes except the last. The last axis, "mb", is the microbatch. The other
/// axes are in rank order (most significant first), beginning with the pipeline
/// axis.
int64_t numRanks(const Mesh &mesh);
/// Returns the coordinates of the rank with number `rank`, in microbatch 0.
Coordinates coordinatesOf(const Mesh &mesh, int64_t rank);
/// Returns the number of the rank at the coordinates `at`. The coordinate of
/// the microbatch is ignored.
int64_t rankOf(const Mesh &mesh, const Coordinates &at);
/// Returns a reference to the microbatch in the coordinates `at`.
inline int64_t &microbatchOf(Coordinates &at) { return at.back(); }

/// Returns the layout of a tensor that is not divided: every rank holds the
/// whole tensor.
Layout wholeLayout(std::span<const int64_t> shape);

/// Returns the shape of the shard that a rank holds. The shape includes
/// padding, so it is equal on all ranks.
std::vector<int64_t> localShape(const Layout &layout);
/// Returns the product of the sizes in `shape`.
int64_t numElements(std::span<const int64_t> shape);

/// Checks the layout of a tensor. A layout is a division of the tensor over the
/// ranks of `mesh`. `shape` is the shape of the whole tensor. Returns null if
/// the layout is valid, otherwise a description of the fault.
///
/// A layout writes the size of each dim as a product of factors. For example, a
/// dim of 24 elements may have the factors 4 and 6. Each factor may be split
/// over sub-axes. A sub-axis is a mesh axis or a factor of a mesh axis. A valid
/// layout satisfies these conditions:
///
/// - The layout has one entry per dim of `shape`.
/// - The product of a dim's factors is the size of the dim, and no factor is
///   negative.
/// - Each sub-axis fits into an axis of `mesh`: the product of the sub-axis's
///   fields `pre` and `size` divides the size of the axis.
/// - No two sub-axes of the layout overlap.
/// - In each dim, a rank holds at most a fixed number of separate index ranges.
/// - All sizes and numbers of parts fit into 64 bits.
const char *findLayoutFault(const Layout &layout, const Mesh &mesh,
                            std::span<const int64_t> shape);
/// Checks the view (windowed read, such as a halo) of a dim of `size` elements.
/// Returns null if the view is valid, otherwise a description of the fault.
const char *findViewFault(const View &view, int64_t size);

/// Source or target of a copy: a layout and the coordinates of one rank, both
/// borrowed.
struct LocatedLayout {
  const Layout *layout;
  const Coordinates *at;
  /// Strides of the dims in elements; empty for dense row-major memory of the
  /// local shape.
  std::vector<int64_t> strides = {};
};

/// Returns copies of all elements that both `source` and `target` hold.
/// `source` and `target` each describe a shard that one rank holds. Both shards
/// belong to the same tensor. The copies read the shard of the source and write
/// the shard of the target. No element is written twice. Each copy is a nest of
/// loops. Loops of one iteration are removed, and adjacent loops are fused
/// where possible.
///
/// A dim of `target` may have a view. A view is a windowed read of a dim, such
/// as a halo or a slice. A view has indices of its own, and each index of the
/// view reads one element of the dim or no element. The target's layout then
/// divides the indices of the view. For example, index 0 of the view x[3:11]
/// reads element 3 of x. A copy then writes element 3 to index 0. Views of
/// `source` are ignored.
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

/// Part of a tensor, stored in dense row-major memory of `shape`. Entry d of
/// `dims` lists the segments (contiguous index ranges) of dim d in ascending
/// order. The part is the product of these lists.
struct LocalPart {
  std::vector<std::vector<Segment>> dims;
  std::vector<int64_t> shape;
};

/// Returns the part of a tensor that the rank at `at` holds. The part's `shape`
/// includes padding.
LocalPart localPart(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Returns the part of a tensor that consists of `runs`, stored without
/// padding. `runs` has one list of contiguous index ranges per dim.
LocalPart packedPart(std::span<const Runs> runs);

/// Returns copies of all elements that both `source` and `target` hold, from
/// the source's memory to the target's memory.
std::vector<StridedCopy> intersect(const LocalPart &source,
                                   const LocalPart &target);

/// Returns a number that identifies the shard of the rank at `at`. Ranks with
/// equal numbers are replicas: they hold the same shard.
int64_t pieceNumber(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Returns whether the rank at `at` has the lowest number of all ranks that
/// hold the same shard (replicas). Compares only ranks of the same pipeline
/// coordinate (axis 0) and microbatch.
bool isLowestHolder(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Returns whether some dim of the layout is divided over microbatches.
bool isCutByMicrobatch(const Layout &layout);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_LAYOUT_H
