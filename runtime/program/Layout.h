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

/// Division of a tensor over ranks. The size of each dim is a product of
/// factors, and each factor is whole or split over mesh axes. For example, a
/// dim of 24 elements with the factors 4 and 6 is read as a matrix of 4 rows
/// and 6 columns. If the factor 6 is split over 2 ranks, the first rank holds
/// columns 0 to 2 of every row. A dim that is not split also has a factor, such
/// as 24. A layout never describes a tensor that still needs a reduction over
/// ranks, although dist::Sharding can. Only the layout of a collective's result
/// may have views: a view is a windowed read of a dim, such as a halo.
using Layout = dist::Sharding;

/// Returns the number of ranks of `mesh`. The last axis of `mesh` is "mb". A
/// coordinate on the axis "mb" is the number of a microbatch, so this axis does
/// not add ranks. The number of ranks is the product of the sizes of all other
/// axes. For example, the mesh {pp=2, dp=2, tp=2, mb=8} has 8 ranks. If the
/// program has a pipeline axis, this axis is the first one. Ranks are numbered
/// in row-major order: the first axis is the most significant one.
int64_t numRanks(const Mesh &mesh);
/// Returns the coordinates of the rank with number `rank`. The last axis of
/// `mesh` is "mb". A coordinate on the axis "mb" is the number of a microbatch.
/// The function sets this last coordinate to 0. For example, rank 3 of the mesh
/// {dp=2, tp=2, mb=8} has the coordinates {1, 1, 0}.
Coordinates coordinatesOf(const Mesh &mesh, int64_t rank);
/// Returns the number of the rank at the coordinates `at`. The last axis of
/// `mesh` is "mb". The coordinate on the axis "mb" is the number of a
/// microbatch and does not change the result. For example, the coordinates
/// {1, 1, 0} and {1, 1, 5} in the mesh {dp=2, tp=2, mb=8} both give rank 3.
int64_t rankOf(const Mesh &mesh, const Coordinates &at);
/// Returns a reference to the last entry of the coordinates `at`. The last axis
/// of a program's mesh is "mb", so the last entry is the number of a
/// microbatch. For example, the coordinates {1, 1, 5} in the mesh {dp=2, tp=2,
/// mb=8} contain microbatch 5.
inline int64_t &microbatchOf(Coordinates &at) { return at.back(); }

/// Returns the layout of a tensor that is not divided: every rank holds the
/// whole tensor.
Layout wholeLayout(std::span<const int64_t> shape);

/// Returns the shape of the memory in which a rank stores its shard of a
/// tensor. The shape is equal on all ranks, even if the shards differ in size.
/// A smaller shard is padded. For example, 7 rows are split over 2 ranks. Each
/// rank has memory for 4 rows. The first rank stores 4 rows. The second rank
/// stores 3 rows and one row of padding.
std::vector<int64_t> localShape(const Layout &layout);
/// Returns the product of the sizes in `shape`.
int64_t numElements(std::span<const int64_t> shape);

/// Checks the layout of a tensor with the shape `shape`: its division over the
/// ranks of `mesh`. Returns null, or a description of the fault. A valid layout
/// has one entry per dim. The product of a dim's factors is the size of the
/// dim. A factor may be split over sub-axes: mesh axes, or factors of mesh
/// axes. The sub-axes do not overlap. The size of a mesh axis is a multiple of
/// `pre · size` for each of its sub-axes, where `pre` is the product of the
/// sizes before the sub-axis. For example, pre = 2 and size = 4 fit into 16.
/// The number of separate index ranges of a rank in a dim is limited. All sizes
/// and numbers of shards fit into 64 bits.
const char *findLayoutFault(const Layout &layout, const Mesh &mesh,
                            std::span<const int64_t> shape);
/// Checks the view of a dim of `size` elements. Returns null, or a description
/// of the fault. A view is a windowed read of a dim, such as a halo. The
/// indices of a view form blocks of equal length, and each block has the same
/// pieces. A piece is a range of indices within a block. Successive indices of
/// a piece read elements at a fixed distance, the step. For example, the slice
/// x[3:11:2] is a view with one block of 4 indices and one piece with the step
/// 2. A valid view has at least one block, and a block at least one index.
/// Pieces are ascending, are not empty, and do not overlap. No step is 0.
/// `limit`, the end of the elements to read, is between 0 and `size`. The total
/// number of pieces is limited. All sizes fit into 64 bits.
const char *findViewFault(const View &view, int64_t size);

/// Describes the source or the target of a copy: the shard of a tensor that one
/// rank holds, and the memory of this shard. `layout` describes how the tensor
/// is divided over ranks, and `at` contains the coordinates of the rank. The
/// layout and the coordinates belong to the caller, and must exist as long as
/// this object is used.
struct LocatedLayout {
  const Layout *layout;
  const Coordinates *at;
  /// Strides of the shard in memory, one per dim, in elements. If the list is
  /// empty, the shard is stored in dense row-major memory. For example, dense
  /// memory of shape [2, 3, 4] has the strides {12, 4, 1}.
  std::vector<int64_t> strides = {};
};

/// Returns copies of all elements that both `source` and `target` hold.
/// `source` and `target` are two shards of one tensor, each in its own memory.
/// No element of the target is written twice. For example, if the source holds
/// the elements [0, 12) of a vector, and the target holds [8, 16), the result
/// is one copy of 4 elements, from index 8 of the source memory to index 0 of
/// the target memory.
///
/// A dim of `target` may have a view, a windowed read. For example, if the view
/// is the slice x[3:11], a copy writes element 3 of x to index 0 of the dim. An
/// index of the view may read no element, for example if it is padding. No copy
/// writes such an index. The function ignores views of `source`.
std::vector<StridedCopy> intersect(const LocatedLayout &source,
                                   const LocatedLayout &target,
                                   const Mesh &mesh);

/// Contiguous range of indices of a dim that a rank holds. `global` is the
/// first index of the range in the whole tensor. `local` is the first index of
/// the range in the shard that the rank stores. `length` is the number of
/// indices. For example, a rank holds the indices [4, 6) and [12, 14) of a dim.
/// The rank stores these indices one after another, as local indices 0 to 3.
/// The second range then has local = 2, global = 12 and length = 2.
struct Segment {
  int64_t local;
  int64_t global;
  int64_t length;
};

/// Part of a tensor, stored in dense row-major memory. `shape` is the shape of
/// this memory. Entry d of `dims` lists the segments of dim d in ascending
/// order. A segment is a contiguous range of indices. An element of the tensor
/// belongs to the part if, for each dim d, its index is in a segment of dim d.
/// For example, if dim 0 has the segments [0, 2) and [4, 6), and dim 1 has the
/// segment [0, 8), the part contains the rows 0, 1, 4 and 5 of 8 columns each.
struct LocalPart {
  std::vector<std::vector<Segment>> dims;
  std::vector<int64_t> shape;
};

/// Returns the part of a tensor that the rank with the coordinates `at` stores.
/// `layout` describes how the tensor is divided over the ranks of `mesh`. The
/// `shape` of the result is the shape of the rank's memory. This shape is equal
/// on all ranks, so the memory may be larger than the part.
///
/// For example, 7 rows are split over 2 ranks. The second rank stores the rows
/// 4 to 6. Its memory has space for 4 rows, so `shape` is [4].
LocalPart localPart(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Returns the part of a tensor that consists of the index ranges `runs`.
/// `runs` has one list of index ranges per dim. The part is stored in memory
/// that has space for exactly these indices.
///
/// For example, the tensor has 2 dims. `runs` has the ranges [0, 2) and [4, 6)
/// of dim 0 and the range [0, 8) of dim 1. The part contains rows 0, 1, 4 and
/// 5, and its `shape` is [4, 8].
LocalPart packedPart(std::span<const Runs> runs);

/// Returns copies of all elements that both `source` and `target` contain.
/// `source` and `target` are parts of the same tensor. Each part is stored in
/// its own memory. The copies read the memory of `source` and write the memory
/// of `target`.
///
/// For example, `source` contains rows 0 to 3 of a matrix, and `target`
/// contains rows 2 to 5. The copies move rows 2 and 3. These are the last two
/// rows of the memory of `source`, and the first two rows of the memory of
/// `target`.
std::vector<StridedCopy> intersect(const LocalPart &source,
                                   const LocalPart &target);

/// Returns a number that identifies the shard of the rank at `at`. Ranks with
/// equal numbers are replicas: they hold the same shard.
int64_t pieceNumber(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Returns whether the rank with the coordinates `at` has the lowest number of
/// all ranks that hold the same shard of the tensor. Considers only ranks with
/// the same coordinates on the first axis of `mesh` (the pipeline axis) and on
/// the last axis (the microbatch).
///
/// For example, the mesh is {pp=2, dp=2, tp=2, mb=8}, and the tensor is split
/// over tp only. The ranks at {1, 0, 1, 0} and {1, 1, 1, 0} hold the same
/// shard. The result is true for the first rank, and false for the second.
bool isLowestHolder(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at);

/// Returns whether the layout splits a dim over the mesh axis "mb". A
/// coordinate on the axis "mb" is the number of a microbatch. If the result is
/// true, a rank can hold different elements of the tensor in different
/// microbatches. For example, a batch of 8 rows is split over 4 microbatches.
/// Microbatch 0 then has rows 0 and 1, and microbatch 1 has rows 2 and 3.
bool isCutByMicrobatch(const Layout &layout);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_PROGRAM_LAYOUT_H
