//===- Sharding.h - sharding of a tensor over a mesh ----------------------===//
//
// A dim is an ordered list of factors (major to minor) whose sizes multiply to
// the size of the dim. Each factor may be split over a list of sub-axes, in
// parts of ceil(size / parts). For a dim of 192 on tp = 2:
//
//   [192@tp]     contiguous halves
//   [3|64@tp]    fused QKV: every rank holds a half of q, of k and of v
//
// and for a dim of 1920 on tp = 4:
//
//   [30@tp|64]   30 heads of 64 over 4 ranks: 8, 8, 8 and 6 heads
//
// The local size of a dim is the product over its factors of ceil(size /
// parts). Local elements lie in the same nested order, with padding at the end
// of each factor's local range.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_SHARDING_SHARDING_H
#define PCC_SHARDING_SHARDING_H

#include "sharding/ReductionKind.h"
#include "sharding/SubAxis.h"
#include "sharding/View.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pcc::dist {

/// Sizes of the dims of a tensor, outermost first.
using Shape = std::vector<int64_t>;

/// One factor of a dim's size, with the sub-axes (parts of mesh axes) that
/// split it. For example, a dim of 192 elements may have the factors 3 and 64,
/// where tp splits the second one: [3|64@tp].
struct Factor {
  int64_t size = 1;
  /// Sub-axes that split the factor, major first; empty if it is whole.
  SubAxes axes;

  /// Returns the number of parts: the product of the sizes of `axes`.
  int64_t numParts() const { return dist::numParts(axes); }
  /// Returns the size of the largest part: `size` divided by numParts(),
  /// rounded up.
  int64_t localSize() const;

  bool operator==(const Factor &) const = default;
};

/// The sharding of one dim.
struct DimSharding {
  /// Factors of the dim, major first. Their sizes multiply to the size of the
  /// dim, or of its view if there is one. An empty list means that the dim is
  /// whole, whatever its size.
  std::vector<Factor> factors;
  /// Windowed read (halo exchange): the op reads other elements of the dim than
  /// the rank's part, such as the neighbouring rows that a convolution needs.
  /// Only operands of ops, and reshards that feed them, have a view. It is
  /// nullopt for all other values.
  std::optional<View> view = {};
  /// Whether propagation may split the dim further.
  bool open = false;
  /// Priority among all requested shardings: the search assigns axes to dims
  /// with a smaller number first.
  int priority = 0;

  /// Returns whether no factor of the dim is split and there is no view
  /// (windowed read), so that every rank holds all elements of the dim in their
  /// global order.
  bool isWhole() const;
  /// Returns the number of parts of the dim: the product of the numbers of
  /// parts of its factors.
  int64_t numParts() const;
  /// Returns the sub-axes of all factors, major first.
  SubAxes axes() const;

  bool operator==(const DimSharding &) const = default;
};

/// A reduction that a value still needs. The ranks along `axis` hold partial
/// tensors; the true value is their reduction, such as their sum.
struct Partial {
  SubAxis axis;
  ReductionKind kind = ReductionKind::Sum;

  auto operator<=>(const Partial &) const = default;
};

/// The sharding of a tensor: how each dim is split, and the axes over which the
/// value is still partial. The value is replicated along all other axes.
struct Sharding {
  std::vector<DimSharding> dims;
  std::vector<Partial> partials;
  /// Axes along which the value must stay replicated: propagation does not use
  /// them.
  SubAxes replicated;

  /// Returns the sharding of `rank` dims in which every dim is whole,
  /// propagation may not split any dim, and nothing is partial.
  static Sharding whole(size_t rank);
  /// Returns the sharding of `rank` dims in which nothing is partial and every
  /// dim is whole, but open: propagation may split it.
  static Sharding open(size_t rank);

  /// Returns the number of dims.
  size_t rank() const { return dims.size(); }

  /// Compares member by member. Two different forms may describe the same
  /// placement; samePlacement() compares what ranks hold.
  bool operator==(const Sharding &) const = default;
};

/// Returns the canonical form, which IR and messages print. Axes of size 1 and
/// unsplit factors of size 1 are dropped. Neighbouring factors and sub-axes are
/// merged where no rank's part changes. For example, a dim of 4 · 3 elements
/// whose factor 4 is split over tp is equal to a dim of 12 elements split over
/// tp: [4@tp|3] = [12@tp] for tp = 2. Whole dims have no factors. Partials and
/// replicated axes are sorted.
Sharding canonical(Sharding sharding);
DimSharding canonical(DimSharding dim);

/// Returns the canonical form without `open`, `priority` and `replicated`,
/// which only guide propagation.
Sharding placement(const Sharding &sharding);

/// Returns the placement without the time axis: the sharding over ranks that a
/// value has in every microbatch.
Sharding withoutTime(Sharding sharding);

/// Returns whether every rank holds the same elements in the same order under
/// `a` as under `b`, with the same partial axes.
bool samePlacement(const Sharding &a, const Sharding &b);

/// Returns the sharding of a dim of `dimSize` that is one factor, split over
/// `axes`, in canonical form.
DimSharding splitOver(int64_t dimSize, SubAxes axes);

/// Returns `dim` gathered over `axes`. Sub-axes that overlap `axes` do not
/// split the result, and all others keep their parts. The result may be
/// strided: if 8 elements are split over x (of size 2) and y, 8@x+y, the result
/// without x is [2 | 4@y]. Returns nullopt if a remaining part would become
/// uneven, or if sub-axes do not align.
std::optional<DimSharding> withoutAxes(const DimSharding &dim,
                                       const SubAxes &axes);

/// Returns the number of elements that the rank with the largest part holds of
/// a dim, padding included. Every rank allocates as many.
int64_t localDim(const DimSharding &dim, int64_t dimSize);
/// Returns the shape of the local buffer of a tensor with global shape `shape`.
Shape localShape(const Sharding &sharding, const Shape &shape);
/// Returns the product of the sizes in `shape`.
int64_t numElements(const Shape &shape);

/// Returns whether some rank pads its part of the dim: its local buffer has
/// elements that are not part of the tensor.
bool isPadded(const DimSharding &dim);

/// Returns whether some dim has a view (windowed read, such as a halo
/// exchange).
bool hasView(const Sharding &sharding);

/// Returns `shape` after each dim with a view (windowed read) gets the size of
/// its view. The product of the factors of a dim is its size in the returned
/// shape.
Shape viewedShape(const Sharding &sharding, const Shape &shape);

/// Returns whether every rank holds the whole value: no dim is split or has a
/// view, and nothing is partial.
bool isReplicated(const Sharding &sharding);
/// Returns whether the value is partial over more than one rank.
bool isPartial(const Sharding &sharding);

/// Returns the number of different shards: the product over the dims.
int64_t numParts(const Sharding &sharding);

/// Returns the sub-axes that split dims: dim by dim, major first.
SubAxes splitAxes(const Sharding &sharding);
/// Returns the sub-axes over which the value is partial.
SubAxes partialAxes(const Sharding &sharding);
/// Returns the sub-axes that a further split may not use: those that split a
/// dim, then those that are partial.
SubAxes axesUsed(const Sharding &sharding);

/// Checks `sharding` against a mesh and a tensor shape: axes are known,
/// sub-axes divide them, factors multiply to the dim, no axis is used twice,
/// and all partials have one reduction kind. Returns the first error, which
/// names the axis and the dims, or nullopt if there is none.
std::optional<std::string> findError(const Sharding &sharding, const Mesh &mesh,
                                     const Shape &shape);

/// Checks that the mesh has every axis that `sharding` uses, and that its
/// sub-axes divide them. Returns the first error, or nullopt.
std::optional<std::string> findAxisError(const Sharding &sharding,
                                         const Mesh &mesh);

/// Mixes `value` into the hash `seed`, as boost::hash_combine does.
void hashCombine(size_t &seed, size_t value);

/// Returns a hash of all members; equal shardings have equal hashes.
size_t hashValue(const Sharding &sharding);

/// Hash function object, for unordered containers keyed by shardings.
struct ShardingHash {
  size_t operator()(const Sharding &s) const { return hashValue(s); }
};

} // namespace pcc::dist

#endif // PCC_SHARDING_SHARDING_H
