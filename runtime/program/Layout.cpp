//===- Layout.cpp - layouts: the shard of a tensor that a rank holds ------===//

#include "runtime/program/Layout.h"

#include <algorithm>
#include <cassert>

namespace pcc::runtime {

int64_t numRanks(const Mesh &mesh) { return mesh.spatial().size(); }

/// Returns the coordinates of a rank in microbatch 0. The last axis of `mesh`
/// is the microbatch. The last coordinate of the result is therefore 0. In the
/// mesh {dp=2, tp=2, mb=8}, for example, rank 3 has the coordinates {1, 1, 0}.
Coordinates coordinatesOf(const Mesh &mesh, int64_t rank) {
  return mesh.coordinates(rank * mesh.axes.back().size);
}

int64_t rankOf(const Mesh &mesh, const Coordinates &at) {
  return mesh.rankOf(at) / mesh.axes.back().size;
}

Layout wholeLayout(std::span<const int64_t> shape) {
  Layout layout;
  for (int64_t size : shape)
    layout.dims.push_back({{Factor{size, {}}}});
  return layout;
}

std::vector<int64_t> localShape(const Layout &layout) {
  std::vector<int64_t> shape;
  for (const DimSharding &dim : layout.dims) {
    int64_t size = 1;
    for (const Factor &factor : dim.factors)
      size *= factor.localSize();
    shape.push_back(size);
  }
  return shape;
}

int64_t numElements(std::span<const int64_t> shape) {
  int64_t product = 1;
  for (int64_t size : shape)
    product *= size;
  return product;
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

/// Largest number of segments (contiguous index ranges) per dim. Limits the
/// work for an untrusted program; layouts of pcc need far fewer.
static constexpr int64_t kMaxSegments = int64_t(1) << 22;

/// Checks that the sub-axis `axis` exists in `mesh`. Returns null if it exists,
/// otherwise a description of the fault. A sub-axis is a mesh axis or a factor
/// of a mesh axis. For example, the sub-axis with pre = 2 and size = 4 exists
/// in a mesh axis of size 16, because 2 · 4 divides 16. If the mesh axis is
/// reshaped to [2, 4, 2], the sub-axis is the middle dim.
static const char *findAxisFault(const SubAxis &axis, const Mesh &mesh) {
  const int index = mesh.indexOf(axis.axis);
  if (index < 0)
    return "names an axis that the mesh does not have";
  // The product of `pre` and `size` may not fit into 64 bits.
  const int64_t whole = mesh.axes[index].size;
  if (axis.pre < 1 || axis.size < 1 || axis.pre > whole ||
      axis.size > whole / axis.pre || whole % axis.end() != 0)
    return "has a sub-axis that does not divide its axis";
  return nullptr;
}

/// Checks how one dim of a tensor is divided over the ranks of `mesh`. Returns
/// null if the division is valid, otherwise a description of the fault. The
/// product of the dim's factors must be `expected`. Appends the sub-axes that
/// split the factors to `used`. A sub-axis is a mesh axis or a factor of a mesh
/// axis.
///
/// The number of separate index ranges of a rank is limited. For example, a dim
/// of 24 elements has the factors 4 and 6. If the 6 is split over 2 ranks, the
/// first rank holds the 4 ranges [0, 3), [6, 9), [12, 15) and [18, 21).
static const char *findDimFault(const DimSharding &dim, const Mesh &mesh,
                                int64_t expected, SubAxes &used) {
  int64_t size = 1, segments = 1;
  for (size_t i = 0; i < dim.factors.size(); ++i) {
    const Factor &factor = dim.factors[i];
    if (factor.size < 0 || __builtin_mul_overflow(size, factor.size, &size))
      return "has a factor of impossible size";
    for (const SubAxis &axis : factor.axes) {
      if (const char *fault = findAxisFault(axis, mesh))
        return fault;
      used.push_back(axis);
    }
    const int64_t pieces = factor.numParts();
    if (pieces == INT64_MAX)
      return "divides a factor into too many pieces";
    if (i > 0 && pieces > 1)
      segments = std::max(segments, size / std::max<int64_t>(factor.size, 1));
  }
  if (segments > kMaxSegments)
    return "has too many separate runs of indices";
  return size == expected ? nullptr
                          : "has factors that do not multiply to its dim";
}

const char *findLayoutFault(const Layout &layout, const Mesh &mesh,
                            std::span<const int64_t> shape) {
  if (layout.dims.size() != shape.size())
    return "has another number of dims than its shape";
  int64_t elements = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(elements, std::max<int64_t>(size, 1), &elements))
      return "has an impossible shape";
  SubAxes used;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    if (const char *fault =
            findDimFault(layout.dims[dim], mesh, shape[dim], used))
      return fault;
  for (size_t i = 0; i < used.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (overlaps(used[i], used[j]))
        return "uses the same part of an axis twice";
  return nullptr;
}

const char *findViewFault(const View &view, int64_t size) {
  if (findError(view, size))
    return "has an impossible view";
  int64_t pieces;
  if (__builtin_mul_overflow(view.blocks, int64_t(view.pieces.size()),
                             &pieces) ||
      pieces > kMaxSegments)
    return "has a view of too many pieces";
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Parts of a rank
//===----------------------------------------------------------------------===//

/// Returns the number of the part of `factor` that the rank at the coordinates
/// `at` holds. The size of a dim is written as a product of factors. Each
/// factor may be split over mesh axes, into one part for each combination of
/// coordinates on these axes. The parts are numbered from 0. For example, if
/// the factor 30 is split over the axis tp of size 4, the parts have 8, 8, 8
/// and 6 indices. A rank with the coordinate 3 on tp holds part 3.
static int64_t pieceOf(const Factor &factor, const Mesh &mesh,
                       const Coordinates &at) {
  return coordinateOf(factor.axes, mesh, at);
}

/// Appends the segment `next` to `list`. A segment is a contiguous range of
/// indices of a dim that a rank holds. The field `global` of a segment is its
/// first index in the whole tensor. The field `local` is its first index in the
/// shard that the rank stores. If `next` begins where the last segment of
/// `list` ends, both in the whole tensor and in the shard, the function extends
/// the last segment instead.
///
/// For example, the last segment is [4, 6) in the whole tensor and [0, 2) in
/// the shard. If `next` is [6, 8) in the whole tensor and [2, 4) in the shard,
/// the last segment becomes [4, 8) in the whole tensor and [0, 4) in the shard.
static void append(std::vector<Segment> &list, Segment next) {
  if (!list.empty()) {
    Segment &last = list.back();
    if (last.local + last.length == next.local &&
        last.global + last.length == next.global) {
      last.length += next.length;
      return;
    }
  }
  list.push_back(next);
}

/// Returns the segments (contiguous index ranges) of a dim that a rank holds,
/// in ascending order. For example, a dim has the factors 4 and 6, and the
/// second one is split over 2 ranks. The first rank holds the indices [0, 3),
/// [6, 9), [12, 15) and [18, 21).
static std::vector<Segment> segmentsOf(const DimSharding &dim, const Mesh &mesh,
                                       const Coordinates &at) {
  std::vector<Segment> inner = {{0, 0, 1}};
  int64_t innerLocal = 1, innerGlobal = 1;
  for (auto factor = dim.factors.rbegin(); factor != dim.factors.rend();
       ++factor) {
    const int64_t size = factor->localSize();
    const int64_t first = pieceOf(*factor, mesh, at) * size;
    const int64_t held = std::clamp<int64_t>(factor->size - first, 0, size);
    std::vector<Segment> outer;
    const bool dense = inner.size() == 1 && inner[0].length == innerLocal &&
                       innerLocal == innerGlobal;
    if (dense && held > 0)
      outer.push_back({0, first * innerGlobal, held * innerLocal});
    for (int64_t i = 0; !dense && i < held; ++i)
      for (const Segment &segment : inner)
        append(outer,
               {i * innerLocal + segment.local,
                (first + i) * innerGlobal + segment.global, segment.length});
    inner = std::move(outer);
    innerLocal *= size;
    innerGlobal *= factor->size;
  }
  if (innerLocal == 0)
    inner.clear();
  return inner;
}

int64_t pieceNumber(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at) {
  int64_t number = 0;
  for (const DimSharding &dim : layout.dims)
    for (const Factor &factor : dim.factors)
      number = number * factor.numParts() + pieceOf(factor, mesh, at);
  return number;
}

/// Returns false if another rank with a lower number holds the same shard as
/// the rank at `at`. Compares the rank only with ranks that have a lower
/// coordinate on one axis and equal coordinates on all other axes. The axis of
/// the lower coordinate is neither the first axis (the pipeline) nor the last
/// axis (the microbatch).
///
/// For example, the axes are pp, dp, tp and mb. The rank at {0, 1, 1, 0} is
/// compared with the ranks at {0, 0, 1, 0} and {0, 1, 0, 0}, but not with the
/// rank at {0, 0, 0, 0}. The comparison with {0, 0, 0, 0} is not needed. If the
/// rank at {0, 0, 0, 0} holds the same shard, the rank at {0, 0, 1, 0} holds
/// the same shard too.
bool isLowestHolder(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at) {
  Coordinates lower = at;
  for (size_t axis = 1; axis + 1 < mesh.axes.size(); ++axis) {
    for (lower[axis] = 0; lower[axis] < at[axis]; ++lower[axis])
      if (pieceNumber(layout, mesh, lower) == pieceNumber(layout, mesh, at))
        return false;
    lower[axis] = at[axis];
  }
  return true;
}

bool isCutByMicrobatch(const Layout &layout) {
  for (const SubAxis &axis : splitAxes(layout))
    if (axis.axis == dist::timeAxis && axis.size > 1)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Intersection
//===----------------------------------------------------------------------===//

namespace {
/// Elements of one dim that source and target of a copy have in common: `count`
/// runs of `length` contiguous elements. Run i begins at `source` + i ·
/// `sourceStep` in the source and at `target` + i · `targetStep` in the target.
struct CommonRuns {
  int64_t source, target, length;
  int64_t count, sourceStep, targetStep;
};
} // namespace

/// Appends `next` to `list`, or merges `next` with the last entry of `list`. An
/// entry has one or more runs of contiguous elements. All runs have the same
/// length, and a fixed distance in the source and in the target of a copy.
/// `next` has one run. The function merges `next` if the last entry has a
/// single run of the same length, or if `next` follows the runs at the same
/// distance. For example, the last entry has 2 runs of 4 elements, at the
/// indices 0 and 8 in both source and target. A run of 4 elements at 16 in both
/// is merged.
static void append(std::vector<CommonRuns> &list, CommonRuns next) {
  if (!list.empty() && list.back().length == next.length) {
    CommonRuns &last = list.back();
    const int64_t sourceStep =
        next.source - last.source - (last.count - 1) * last.sourceStep;
    const int64_t targetStep =
        next.target - last.target - (last.count - 1) * last.targetStep;
    if (last.count == 1 ||
        (last.sourceStep == sourceStep && last.targetStep == targetStep)) {
      last.sourceStep = sourceStep;
      last.targetStep = targetStep;
      ++last.count;
      return;
    }
  }
  list.push_back(next);
}

/// Returns the elements of one dim that the source and the target of a copy
/// have in common. `source` and `target` list the contiguous index ranges that
/// each of them holds, in ascending order. For example, the source holds the
/// indices [0, 12), and the target holds [8, 16). The result is one run of 4
/// elements, at index 8 of the source's shard and index 0 of the target's
/// shard.
static std::vector<CommonRuns> intersect(const std::vector<Segment> &source,
                                         const std::vector<Segment> &target) {
  std::vector<CommonRuns> common;
  for (size_t i = 0, j = 0; i < source.size() && j < target.size();) {
    const Segment &a = source[i], &b = target[j];
    const int64_t begin = std::max(a.global, b.global);
    const int64_t end = std::min(a.global + a.length, b.global + b.length);
    if (begin < end)
      append(common, {a.local + begin - a.global, b.local + begin - b.global,
                      end - begin, 1, 0, 0});
    const bool sourceEnds = a.global + a.length == end;
    const bool targetEnds = b.global + b.length == end;
    i += sourceEnds;
    j += targetEnds;
  }
  return common;
}

/// Returns the integers j for which `first + step * j` is in the range [lo,
/// hi). The function considers only the integers j in the range [from, to). The
/// result is a pair: the first such integer, and the last such integer plus 1.
/// If there is no such integer, the second number of the pair is not larger
/// than the first. `step` is not 0.
///
/// For example, `first` is 3, `step` is 2, and j is in [0, 100). The values of
/// `first + step * j` are 3, 5, 7, 9, 11 and so on. If the range [lo, hi) is
/// [5, 10), the values 5, 7 and 9 are in this range. Their integers j are 1, 2
/// and 3, so the result is {1, 4}.
static std::pair<int64_t, int64_t> stepsWithin(int64_t first, int64_t step,
                                               int64_t lo, int64_t hi,
                                               int64_t from, int64_t to) {
  const auto ceilDiv = [](int64_t a, int64_t b) {
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
  };
  if (step > 0)
    return {std::max(from, ceilDiv(lo - first, step)),
            std::min(to, ceilDiv(hi - first, step))};
  return {std::max(from, ceilDiv(first - hi + 1, -step)),
          std::min(to, ceilDiv(first - lo + 1, -step))};
}

/// Appends to `common` the elements of a dim that the source holds and that the
/// target reads through `view`. A view maps its own indices to elements: the
/// slice x[3:11] maps index i to element 3 + i. The source holds the elements
/// in the range `elements`, and the target holds the view indices in the range
/// `indices`. The function handles one piece (range of indices) of one block of
/// the view. For example, each of 4 ranks needs 4 of 16 rows and one more row
/// on each side. The view has one block of 6 indices per rank. Block 1 has the
/// indices 6 to 11, which read the rows 3 to 8. If the source holds the rows 4
/// to 7, the function appends these rows.
static void appendSeen(const View &view, int64_t block, const ViewPiece &piece,
                       const Segment &indices, const Segment &elements,
                       std::vector<CommonRuns> &common) {
  const int64_t begin = block * view.length + piece.lo;
  const int64_t first = block * view.pitch + piece.source;
  const auto [from, to] = stepsWithin(
      first, piece.step, elements.global,
      std::min(elements.global + elements.length, view.limit),
      std::max<int64_t>(0, indices.global - begin),
      std::min(piece.hi - piece.lo, indices.global + indices.length - begin));
  if (from >= to)
    return;
  const int64_t source =
      elements.local + first + piece.step * from - elements.global;
  const int64_t target = indices.local + begin + from - indices.global;
  if (piece.step == 1)
    append(common, {source, target, to - from, 1, 0, 0});
  else
    common.push_back({source, target, 1, to - from, piece.step, 1});
}

/// Returns the elements of one dim that a copy moves from a source to a target.
/// The target reads the dim through `view`, a windowed read such as a halo or a
/// slice. A view has indices of its own. For example, index i of the view
/// x[3:11] reads element 3 + i of x.
///
/// `source` lists the ranges of elements that the source holds. `target` lists
/// the ranges of view indices that the target holds. For example, for the view
/// x[3:11], the source holds the elements [0, 6) and the target holds the
/// indices [0, 4). The target reads the elements [3, 7). The function returns
/// the elements [3, 6).
static std::vector<CommonRuns> intersectSeen(const std::vector<Segment> &source,
                                             const std::vector<Segment> &target,
                                             const View &view) {
  std::vector<CommonRuns> common;
  for (const Segment &indices : target) {
    const int64_t end = indices.global + indices.length;
    for (int64_t block = indices.global / view.length;
         block * view.length < end; ++block)
      for (const ViewPiece &piece : view.pieces)
        for (const Segment &elements : source)
          appendSeen(view, block, piece, indices, elements, common);
  }
  return common;
}

/// Returns the strides of a dense row-major array with the shape `shape`, in
/// elements. For example, the shape [2, 3, 4] has the strides {12, 4, 1}.
static std::vector<int64_t> denseStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

/// Returns the strides of the memory of `side`, in elements. `side` is the
/// source or the target of a copy. If the field `strides` of `side` is empty,
/// the memory is dense and row-major. The function then computes the strides
/// from the shape of the shard.
static std::vector<int64_t> stridesOf(const LocatedLayout &side) {
  return side.strides.empty() ? denseStrides(localShape(*side.layout))
                              : side.strides;
}

/// Adds the next dim of a tensor to `copies`. The copies are nested loops over
/// the dims before it. `stretches` lists the elements of the new dim that
/// source and target have in common. A stretch is one or more runs of
/// contiguous elements. All its runs have the same length and a fixed distance.
/// `sourceStride` and `targetStride` are the strides of the new dim, in
/// elements. The result has one copy for each pair of a copy and a stretch: 2
/// `copies` and 5 `stretches` give 10 copies. Each of them has two new
/// innermost loops: one over the runs, and inside it one over the elements of a
/// run.
static std::vector<StridedCopy>
multiply(const std::vector<StridedCopy> &copies,
         const std::vector<CommonRuns> &stretches, int64_t sourceStride,
         int64_t targetStride) {
  std::vector<StridedCopy> product;
  for (const StridedCopy &copy : copies)
    for (const CommonRuns &stretch : stretches) {
      StridedCopy next = copy;
      next.sourceOffset += stretch.source * sourceStride;
      next.targetOffset += stretch.target * targetStride;
      next.loops.push_back({stretch.count, stretch.sourceStep * sourceStride,
                            stretch.targetStep * targetStride});
      next.loops.push_back({stretch.length, sourceStride, targetStride});
      product.push_back(std::move(next));
    }
  return product;
}

/// Returns copies of all elements that both `source` and `target` hold. Begins
/// with one copy without loops, and handles the dims of the tensor one after
/// another. For each dim, finds the indices that source and target have in
/// common, and adds loops over these indices to the copies.
std::vector<StridedCopy> intersect(const LocatedLayout &source,
                                   const LocatedLayout &target,
                                   const Mesh &mesh) {
  assert(source.layout->dims.size() == target.layout->dims.size() &&
         "layouts of two shapes");
  const std::vector<int64_t> sourceStrides = stridesOf(source);
  const std::vector<int64_t> targetStrides = stridesOf(target);
  std::vector<StridedCopy> copies(1);
  for (size_t dim = 0; dim < source.layout->dims.size(); ++dim) {
    const auto held = segmentsOf(source.layout->dims[dim], mesh, *source.at);
    const auto wanted = segmentsOf(target.layout->dims[dim], mesh, *target.at);
    const std::optional<View> &view = target.layout->dims[dim].view;
    copies = multiply(copies,
                      view ? intersectSeen(held, wanted, *view)
                           : intersect(held, wanted),
                      sourceStrides[dim], targetStrides[dim]);
  }
  for (StridedCopy &copy : copies)
    simplify(copy);
  return copies;
}

LocalPart localPart(const Layout &layout, const Mesh &mesh,
                    const Coordinates &at) {
  LocalPart part;
  part.shape = localShape(layout);
  for (const DimSharding &dim : layout.dims)
    part.dims.push_back(segmentsOf(dim, mesh, at));
  return part;
}

LocalPart packedPart(std::span<const Runs> runs) {
  LocalPart part;
  for (const Runs &dim : runs) {
    int64_t held = 0;
    part.dims.emplace_back();
    for (const Run &run : dim) {
      part.dims.back().push_back({held, run.lo, run.size()});
      held += run.size();
    }
    part.shape.push_back(held);
  }
  return part;
}

std::vector<StridedCopy> intersect(const LocalPart &source,
                                   const LocalPart &target) {
  const std::vector<int64_t> sourceStrides = denseStrides(source.shape);
  const std::vector<int64_t> targetStrides = denseStrides(target.shape);
  std::vector<StridedCopy> copies(1);
  for (size_t dim = 0; dim < source.dims.size(); ++dim)
    copies = multiply(copies, intersect(source.dims[dim], target.dims[dim]),
                      sourceStrides[dim], targetStrides[dim]);
  for (StridedCopy &copy : copies)
    simplify(copy);
  return copies;
}

} // namespace pcc::runtime
