//===- CanonicalSharding.cpp - canonical form of shardings ----------------===//
//
// Implements canonical(), placement() and samePlacement(). The canonical form
// merges what can be merged without
// changing any rank's part, so that most equal placements have equal forms. To
// compare placements exactly, samePlacement brings canonical forms into a
// second, unified form.
//
//===----------------------------------------------------------------------===//
#include "sharding/Sharding.h"

#include <algorithm>
#include <numeric>

namespace pcc::dist {

static int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// Returns the single factor that gives every rank the same elements as the
/// factor `major` followed by the factor `minor`, or nullopt if there is none.
/// Below, 4@tp is a factor of 4 indices that is split over tp.
///
///   4@tp | 3    ->  12@tp    if no part grows: ceil(12/parts) =
///                            ceil(4/parts) * 3
///   2@x | 6@y   ->  12@x+y   if x splits its factor into single indices and
///                            y divides 6
static std::optional<Factor> fold(const Factor &major, const Factor &minor) {
  int64_t size;
  if (__builtin_mul_overflow(major.size, minor.size, &size))
    return std::nullopt;
  if (major.axes.empty() && minor.axes.empty())
    return Factor{size, {}};
  int64_t part = major.localSize() * minor.localSize();
  SubAxes axes = major.axes;
  axes.insert(axes.end(), minor.axes.begin(), minor.axes.end());
  axes = mergeNeighbours(axes);
  bool samePart = ceilDiv(size, numParts(axes)) == part;
  bool contiguous = minor.axes.empty() ||
                    (major.localSize() == 1 &&
                     minor.localSize() * minor.numParts() == minor.size);
  if (!samePart || !contiguous)
    return std::nullopt;
  return Factor{size, axes};
}

DimSharding canonical(DimSharding dim) {
  std::vector<Factor> factors;
  for (Factor &factor : dim.factors) {
    factor.axes = mergeNeighbours(factor.axes);
    if (factor.size == 1 && factor.axes.empty())
      continue;
    // The factor that results from folding two factors may fold with the factor
    // before it as well.
    Factor folded = factor;
    while (!factors.empty()) {
      std::optional<Factor> both = fold(factors.back(), folded);
      if (!both)
        break;
      folded = *both;
      factors.pop_back();
    }
    factors.push_back(folded);
  }
  dim.factors = std::move(factors);
  if (dim.numParts() == 1)
    dim.factors.clear();
  return dim;
}

/// Sorts partials, drops those over axes of size 1 and merges those that are
/// adjacent in their axis and have the same kind.
static std::vector<Partial> canonicalPartials(std::vector<Partial> partials) {
  std::sort(partials.begin(), partials.end());
  std::vector<Partial> result;
  for (const Partial &partial : partials) {
    if (partial.axis.size == 1)
      continue;
    if (!result.empty() && result.back().kind == partial.kind &&
        canMerge(result.back().axis, partial.axis))
      result.back().axis = merge(result.back().axis, partial.axis);
    else
      result.push_back(partial);
  }
  return result;
}

Sharding canonical(Sharding sharding) {
  for (DimSharding &dim : sharding.dims)
    dim = canonical(std::move(dim));
  sharding.partials = canonicalPartials(std::move(sharding.partials));
  std::sort(sharding.replicated.begin(), sharding.replicated.end());
  sharding.replicated = mergeNeighbours(sharding.replicated);
  return sharding;
}

Sharding placement(const Sharding &sharding) {
  Sharding result = canonical(sharding);
  for (DimSharding &dim : result.dims) {
    dim.open = false;
    dim.priority = 0;
  }
  result.replicated.clear();
  return result;
}

Sharding withoutTime(Sharding sharding) {
  for (DimSharding &dim : sharding.dims)
    for (Factor &factor : dim.factors)
      std::erase_if(factor.axes,
                    [](const SubAxis &axis) { return axis.axis == timeAxis; });
  std::erase_if(sharding.partials, [](const Partial &partial) {
    return partial.axis.axis == timeAxis;
  });
  return placement(sharding);
}

/// Appends `next` to `factors`. If `next` and the last factor are both split or
/// both whole, the two are merged into one factor, unless the merge would
/// change the part of some rank.
static void join(std::vector<Factor> &factors, const Factor &next) {
  if (!factors.empty() && factors.back().axes.empty() == next.axes.empty())
    if (std::optional<Factor> both = fold(factors.back(), next)) {
      factors.back() = *both;
      return;
    }
  factors.push_back(next);
}

/// Returns the form of a canonical dim that all equal placements share. Below,
/// 4@tp is a factor of 4 indices that is split over tp. Each split factor is
/// cut into a split factor of as few indices as possible, followed by a whole
/// factor. For example, 4@tp = 2@tp | 2 for tp = 3, because the parts hold 2, 2
/// and 0 indices. Then neighbours that are both split or both whole are merged
/// where no rank's part changes.
///   4@tp | 8  ->  2@tp | 16         for tp = 3: 16, 16 and 0 elements
///   3@tp | 8@x  ->  6@tp+x | 4      for tp = 4, x = 2
static DimSharding unified(DimSharding dim) {
  std::vector<Factor> factors;
  for (const Factor &factor : dim.factors) {
    const int64_t held = factor.axes.empty()
                             ? factor.size
                             : std::gcd(factor.size, factor.localSize());
    if (!factor.axes.empty())
      join(factors, {factor.size / held, factor.axes});
    if (held > 1)
      join(factors, {held, {}});
  }
  dim.factors = std::move(factors);
  return dim;
}

static Sharding unified(Sharding sharding) {
  for (DimSharding &dim : sharding.dims)
    dim = unified(std::move(dim));
  return sharding;
}

bool samePlacement(const Sharding &a, const Sharding &b) {
  return a == b || unified(placement(a)) == unified(placement(b));
}

} // namespace pcc::dist
