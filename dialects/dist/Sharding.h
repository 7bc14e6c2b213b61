//===- Sharding.h - How a tensor lies on a mesh ---------------------------===//
//
// A dim is an ordered list of factors (major to minor) whose sizes multiply to
// the dim; each factor may be split over a list of sub-axes in ceil-sized
// parts. For a dim of 192 on tp = 2:
//
//   [192@tp]     contiguous halves
//   [3|64@tp]    fused QKV: every rank holds a half of q, of k and of v
//   [30@tp|64]   30 heads of 64 over 4 ranks: 8, 8, 8 and 6 heads
//
// The local size of a dim is the product over its factors of ceil(size /
// parts); local order is the same nested order, with padding at the end of each
// factor's local range.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_DIALECTS_DIST_SHARDING_H
#define PCC_DIALECTS_DIST_SHARDING_H

#include "dialects/dist/SubAxis.h"
#include "dialects/dist/View.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pcc::dist {

using Shape = std::vector<int64_t>;

struct Factor {
  int64_t size = 1;
  /// Axes that split the factor, major first.
  SubAxes axes;

  int64_t numParts() const { return dist::numParts(axes); }
  int64_t localSize() const;

  bool operator==(const Factor &) const = default;
};

struct DimSharding {
  /// Empty means: the dim is whole, whatever its size. Otherwise the sizes
  /// multiply to the dim, or to the view of it.
  std::vector<Factor> factors;
  /// What an op takes where it needs more, or others, than a part of the dim.
  /// No value of a model lies like this by itself.
  std::optional<View> view = {};
  /// Propagation may split the dim further.
  bool open = false;
  /// Lower goes first.
  int priority = 0;

  /// No factor is split, and all of the dim is there in its own order.
  bool isWhole() const;
  int64_t numParts() const;
  /// Axes of all factors, major first.
  SubAxes axes() const;

  bool operator==(const DimSharding &) const = default;
};

enum class ReductionKind { Sum, Max, Min, Prod, And, Or };

/// "sum", "max", "min", "prod", "and", "or".
const char *toString(ReductionKind kind);
std::optional<ReductionKind> parseReductionKind(std::string_view name);

/// The value still has to be reduced over `axis`.
struct Partial {
  SubAxis axis;
  ReductionKind kind = ReductionKind::Sum;

  auto operator<=>(const Partial &) const = default;
};

struct Sharding {
  std::vector<DimSharding> dims;
  std::vector<Partial> partials;
  /// Axes that propagation must not use.
  SubAxes replicated;

  /// Every dim whole and closed, nothing partial.
  static Sharding whole(size_t rank);
  /// Every dim whole and open.
  static Sharding open(size_t rank);

  size_t rank() const { return dims.size(); }

  /// Member-wise: samePlacement compares what ranks hold.
  bool operator==(const Sharding &) const = default;
};

/// The form in which placements are written: size-1 axes and unsplit size-1
/// factors are gone, neighbouring factors and sub-axes are merged where that
/// changes no rank's part ([4@tp|3] = [12@tp] for tp = 2), whole dims have no
/// factors, partials and replicated axes are sorted.
Sharding canonical(Sharding sharding);
DimSharding canonical(DimSharding dim);

/// The canonical form without what only guides propagation: open, priority,
/// replicated.
Sharding placement(const Sharding &sharding);

/// How ranks see it in every microbatch: the placement without the time axis.
Sharding withoutTime(Sharding sharding);

/// Every rank holds the same elements in the same order, with the same partial
/// axes.
bool samePlacement(const Sharding &a, const Sharding &b);

/// One factor of the dim's size split over `axes`.
DimSharding splitOver(int64_t dimSize, SubAxes axes);

/// `dim` without the sub-axes that overlap `axes`: what they split becomes
/// whole, the others keep their parts, which needs strides: 8@x+y without x =
/// [2 | 4@y]. Nothing if a part that remains would become uneven or if sub-axes
/// do not align.
std::optional<DimSharding> withoutAxes(const DimSharding &dim,
                                       const SubAxes &axes);

/// Largest local size over ranks, padding included.
int64_t localDim(const DimSharding &dim, int64_t dimSize);
Shape localShape(const Sharding &sharding, const Shape &shape);
int64_t numElements(const Shape &shape);

/// Some rank's local buffer has elements that are not part of the tensor.
bool isPadded(const DimSharding &dim);
bool isPadded(const Sharding &sharding);

/// Some dim is seen through a view.
bool hasView(const Sharding &sharding);

/// The sizes that the factors of each dim multiply to: `shape`, with the sizes
/// of views.
Shape viewedShape(const Sharding &sharding, const Shape &shape);

/// No dim is split and nothing is partial.
bool isReplicated(const Sharding &sharding);
bool isPartial(const Sharding &sharding);

/// Number of different shards: the product over the dims.
int64_t numParts(const Sharding &sharding);

/// Axes that split dims, in order of dims, major first.
SubAxes splitAxes(const Sharding &sharding);
/// Axes that are partial.
SubAxes partialAxes(const Sharding &sharding);
/// Split, then partial axes: all that a further split may not use.
SubAxes axesUsed(const Sharding &sharding);

/// Checks `sharding` against a mesh and a tensor shape: known axes, sub-axes
/// that divide them, factors that multiply to the dim, no axis used twice, one
/// reduction kind. Returns the first error, which names the axis and the dims.
std::optional<std::string> findError(const Sharding &sharding, const Mesh &mesh,
                                     const Shape &shape);

size_t hashValue(const Sharding &sharding);

struct ShardingHash {
  size_t operator()(const Sharding &s) const { return hashValue(s); }
};

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_SHARDING_H
