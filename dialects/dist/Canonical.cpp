//===- Canonical.cpp - Equal placements in equal form ---------------------===//
#include "dialects/dist/Sharding.h"

#include <algorithm>
#include <numeric>

namespace pcc::dist {

static int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// The one factor that places elements as `major` followed by `minor` does, if
/// there is one.
///   4@tp | 3       -> 12@tp     if no part grows: ceil(12/parts) =
///   ceil(4/parts) * 3 2@x | 6@y      -> 12@x+y    if x splits its factor into
///   single indices and y divides 6
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
    // Folding can enable folding with the factor before.
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

/// Cuts a split factor and the whole one behind it where all that cut them into
/// the same parts can be cut: each part has ceil(size / parts) · whole
/// elements, and what divides these and all elements may move into the whole
/// factor.
///   4@tp | 8  ->  2@tp | 16     for tp = 3: 16, 16 and 0 elements
static void unify(Factor &split, Factor &whole) {
  const int64_t total = split.size * whole.size;
  const int64_t common = std::gcd(total, split.localSize() * whole.size);
  split.size = total / common;
  whole.size = common;
}

/// A placement in the one form that all equal ones have.
static Sharding unified(Sharding sharding) {
  for (DimSharding &dim : sharding.dims)
    for (size_t i = 1; i < dim.factors.size(); ++i)
      if (!dim.factors[i - 1].axes.empty() && dim.factors[i].axes.empty())
        unify(dim.factors[i - 1], dim.factors[i]);
  return sharding;
}

bool samePlacement(const Sharding &a, const Sharding &b) {
  return a == b || unified(placement(a)) == unified(placement(b));
}

} // namespace pcc::dist
