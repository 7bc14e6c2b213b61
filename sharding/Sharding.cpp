//===- Sharding.cpp - sharding of a tensor over a mesh --------------------===//
#include "sharding/Sharding.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <functional>
#include <numeric>

namespace pcc::dist {

int64_t Factor::localSize() const {
  assert(numParts() > 0 && "sub-axes have at least one coordinate");
  int64_t parts = numParts();
  return size / parts + (size % parts != 0);
}

bool DimSharding::isWhole() const { return !view && this->numParts() == 1; }

int64_t DimSharding::numParts() const {
  int64_t product = 1;
  for (const Factor &factor : factors)
    product *= factor.numParts();
  return product;
}

SubAxes DimSharding::axes() const {
  SubAxes result;
  for (const Factor &factor : factors)
    result.insert(result.end(), factor.axes.begin(), factor.axes.end());
  return result;
}

Sharding Sharding::whole(size_t rank) {
  Sharding result;
  result.dims.resize(rank);
  return result;
}

Sharding Sharding::open(size_t rank) {
  Sharding result = whole(rank);
  for (DimSharding &dim : result.dims)
    dim.open = true;
  return result;
}

DimSharding splitOver(int64_t dimSize, SubAxes axes) {
  DimSharding dim;
  dim.factors.push_back({dimSize, std::move(axes)});
  return canonical(std::move(dim));
}

/// Cuts `axis` into pieces, major first. Each piece is paired with a flag: true
/// if the piece is dropped, because it belongs to one of `axes`. Returns
/// nullopt if the sub-axes do not align, such as halves and thirds of an axis
/// of 6.
static std::optional<std::vector<std::pair<SubAxis, bool>>>
keepOrDrop(const SubAxis &axis, const SubAxes &axes) {
  std::vector<std::pair<SubAxis, bool>> pieces = {{axis, false}};
  for (const SubAxis &drop : axes) {
    std::vector<std::pair<SubAxis, bool>> next;
    for (const auto &[piece, dropped] : pieces) {
      if (overlaps(piece, drop) && !canCoexist(piece, drop))
        return std::nullopt;
      for (const SubAxis &rest : without(piece, drop))
        next.push_back({rest, dropped});
      if (auto both = overlap(piece, drop))
        next.push_back({*both, true});
    }
    std::sort(next.begin(), next.end(),
              [](auto &a, auto &b) { return a.first.pre < b.first.pre; });
    pieces = std::move(next);
  }
  return pieces;
}

/// Appends to `out` the factors that replace `factor` once `axes` are dropped:
/// one factor per piece of its axes (whole if the piece is dropped), and one
/// for the indices within a part. For example, 8@x+y with x = 2 and y = 4
/// becomes 2 | 4@y if x is dropped. Returns false if a part would become uneven
/// or if sub-axes do not align.
static bool dropFromFactor(const Factor &factor, const SubAxes &axes,
                           std::vector<Factor> &out) {
  // Size of a part so far; 0 once a piece does not divide it.
  int64_t left = factor.size;
  bool anyDropped = false;
  std::vector<Factor> nested;
  for (const SubAxis &axis : factor.axes) {
    auto pieces = keepOrDrop(axis, axes);
    if (!pieces)
      return false;
    for (const auto &[piece, dropped] : *pieces) {
      anyDropped |= dropped;
      nested.push_back({piece.size, dropped ? SubAxes{} : SubAxes{piece}});
      left = left % piece.size == 0 ? left / piece.size : 0;
    }
  }
  bool allDropped = std::all_of(nested.begin(), nested.end(),
                                [](const Factor &f) { return f.axes.empty(); });
  if (!anyDropped || allDropped) {
    out.push_back({factor.size, anyDropped ? SubAxes{} : factor.axes});
    return true;
  }
  nested.push_back({left, {}});
  out.insert(out.end(), nested.begin(), nested.end());
  return left != 0;
}

std::optional<DimSharding> withoutAxes(const DimSharding &dim,
                                       const SubAxes &axes) {
  DimSharding result = dim;
  result.factors.clear();
  for (const Factor &factor : dim.factors)
    if (!dropFromFactor(factor, axes, result.factors))
      return std::nullopt;
  return canonical(std::move(result));
}

int64_t localDim(const DimSharding &dim, int64_t dimSize) {
  if (dim.factors.empty())
    return dim.view ? dim.view->size() : dimSize;
  int64_t product = 1;
  for (const Factor &factor : dim.factors)
    product *= factor.localSize();
  return product;
}

Shape localShape(const Sharding &sharding, const Shape &shape) {
  assert(sharding.dims.size() == shape.size() && "another rank");
  Shape local;
  for (size_t i = 0; i < shape.size(); ++i)
    local.push_back(localDim(sharding.dims[i], shape[i]));
  return local;
}

int64_t numElements(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1},
                         std::multiplies<>());
}

bool isPadded(const DimSharding &dim) {
  return std::any_of(
      dim.factors.begin(), dim.factors.end(),
      [](const Factor &f) { return f.size % f.numParts() != 0; });
}

bool hasView(const Sharding &sharding) {
  return std::any_of(sharding.dims.begin(), sharding.dims.end(),
                     [](const DimSharding &dim) { return !!dim.view; });
}

Shape viewedShape(const Sharding &sharding, const Shape &shape) {
  assert(sharding.dims.size() == shape.size() && "another rank");
  Shape viewed = shape;
  for (size_t i = 0; i < shape.size(); ++i)
    if (sharding.dims[i].view)
      viewed[i] = sharding.dims[i].view->size();
  return viewed;
}

bool isReplicated(const Sharding &sharding) {
  return !isPartial(sharding) &&
         std::all_of(sharding.dims.begin(), sharding.dims.end(),
                     [](const DimSharding &dim) { return dim.isWhole(); });
}

bool isPartial(const Sharding &sharding) {
  return numParts(partialAxes(sharding)) != 1;
}

int64_t numParts(const Sharding &sharding) {
  int64_t product = 1;
  for (const DimSharding &dim : sharding.dims)
    product *= dim.numParts();
  return product;
}

SubAxes splitAxes(const Sharding &sharding) {
  SubAxes result;
  for (const DimSharding &dim : sharding.dims) {
    SubAxes axes = dim.axes();
    result.insert(result.end(), axes.begin(), axes.end());
  }
  return result;
}

SubAxes partialAxes(const Sharding &sharding) {
  SubAxes result;
  for (const Partial &partial : sharding.partials)
    result.push_back(partial.axis);
  return result;
}

SubAxes axesUsed(const Sharding &sharding) {
  SubAxes result = splitAxes(sharding), partial = partialAxes(sharding);
  result.insert(result.end(), partial.begin(), partial.end());
  return result;
}

void hashCombine(size_t &seed, size_t value) {
  seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2);
}

static void hashAxis(size_t &seed, const SubAxis &axis) {
  hashCombine(seed, std::hash<std::string>()(axis.axis));
  hashCombine(seed, static_cast<size_t>(axis.pre * 1000003 + axis.size));
}

size_t hashValue(const Sharding &sharding) {
  size_t seed = sharding.dims.size();
  for (const DimSharding &dim : sharding.dims) {
    hashCombine(seed, dim.factors.size() * 4 + (dim.open ? 2 : 0) +
                          static_cast<size_t>(dim.priority) * 8);
    for (const Factor &factor : dim.factors) {
      hashCombine(seed, static_cast<size_t>(factor.size));
      for (const SubAxis &axis : factor.axes)
        hashAxis(seed, axis);
    }
    if (dim.view)
      hashCombine(seed, hashValue(*dim.view));
  }
  for (const Partial &partial : sharding.partials) {
    hashCombine(seed, 31 + static_cast<size_t>(partial.kind));
    hashAxis(seed, partial.axis);
  }
  for (const SubAxis &axis : sharding.replicated)
    hashAxis(seed, axis);
  return seed;
}

} // namespace pcc::dist
