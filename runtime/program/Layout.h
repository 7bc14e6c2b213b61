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

/// Division of a tensor over ranks. Every dim is reshaped to a list of factors,
/// and each factor may be split over mesh axes. A dim that is not split also
/// has a factor, so that the factors determine the shape.
///
/// A layout has no partial axes (unreduced sums). Only the target of a
/// collective may have views (windowed reads of a dim).
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

/// Checks a layout against a mesh and a global shape. Returns null if the
/// layout is valid, otherwise a description of the fault. A valid layout
/// satisfies these conditions:
///
/// - The factors of a dim multiply to the dim's size, and no size is negative.
/// - The sub-axes divide existing axes and are disjoint.
/// - A rank holds a limited number of segments (contiguous index ranges).
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

/// Returns copies from `source` to `target` of all elements that both hold.
/// Both layouts must divide the same global shape. A target dim with a view
/// (windowed read) divides the viewed dim. Views of the source are ignored. The
/// copies are simplified and write disjoint elements.
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
