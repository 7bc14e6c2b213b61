//===- Runs.cpp - global index ranges that a rank holds -------------------===//
#include "sharding/Runs.h"

#include <algorithm>
#include <cassert>

namespace pcc::dist {

/// Appends [lo, hi) to `runs`, merged with the last run if they touch. Empty
/// ranges are dropped.
static void append(Runs &runs, int64_t lo, int64_t hi) {
  if (lo >= hi)
    return;
  if (!runs.empty() && runs.back().hi == lo)
    runs.back().hi = hi;
  else
    runs.push_back({lo, hi});
}

/// Returns the runs (index ranges) that a rank holds of `factor` together with
/// all factors minor to it. `position` is the number of the factor's part that
/// the rank holds. `inner` are the runs of the minor factors, within [0,
/// stride). They are repeated at i * stride for each index i of that part.
static Runs nest(const Factor &factor, int64_t position, int64_t stride,
                 const Runs &inner) {
  assert(position >= 0 && position < factor.numParts() && "no such part");
  int64_t part = factor.localSize();
  int64_t lo = std::min(factor.size, position * part),
          hi = std::min(factor.size, lo + part);
  Runs runs;
  // If the rank holds all indices of the minor factors, the result is one
  // contiguous run.
  if (inner.size() == 1 && inner[0] == Run{0, stride}) {
    append(runs, lo * stride, hi * stride);
    return runs;
  }
  for (int64_t i = lo; i < hi; ++i)
    for (const Run &run : inner)
      append(runs, i * stride + run.lo, i * stride + run.hi);
  return runs;
}

Runs runsAt(const DimSharding &dim, int64_t dimSize,
            const std::vector<int64_t> &positions) {
  assert(positions.size() == dim.factors.size() && "one position per factor");
  Runs runs;
  if (dim.factors.empty()) {
    append(runs, 0, dim.view ? dim.view->size() : dimSize);
    return runs;
  }
  runs.push_back({0, 1});
  int64_t stride = 1;
  for (size_t i = dim.factors.size(); i-- > 0; stride *= dim.factors[i].size)
    runs = nest(dim.factors[i], positions[i], stride, runs);
  return runs;
}

Runs runsOf(const DimSharding &dim, int64_t dimSize, const Mesh &mesh,
            const Coordinates &where) {
  std::vector<int64_t> positions;
  for (const Factor &factor : dim.factors)
    positions.push_back(coordinateOf(factor.axes, mesh, where));
  return runsAt(dim, dimSize, positions);
}

std::vector<Runs> runsOf(const Sharding &sharding, const Shape &shape,
                         const Mesh &mesh, const Coordinates &where) {
  assert(sharding.dims.size() == shape.size() && "another rank");
  std::vector<Runs> box;
  for (size_t i = 0; i < shape.size(); ++i)
    box.push_back(runsOf(sharding.dims[i], shape[i], mesh, where));
  return box;
}

int64_t count(const Runs &runs) {
  int64_t sum = 0;
  for (const Run &run : runs)
    sum += run.size();
  return sum;
}

int64_t count(const std::vector<Runs> &box) {
  int64_t product = 1;
  for (const Runs &runs : box)
    product *= count(runs);
  return product;
}

/// Calls `visit(lo, hi)` for each range that `a` and `b` have in common, in
/// ascending order.
template <typename Visit>
static void forEachCommon(const Runs &a, const Runs &b, Visit visit) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    int64_t lo = std::max(a[i].lo, b[j].lo), hi = std::min(a[i].hi, b[j].hi);
    if (lo < hi)
      visit(lo, hi);
    a[i].hi < b[j].hi ? ++i : ++j;
  }
}

Runs intersect(const Runs &a, const Runs &b) {
  Runs runs;
  forEachCommon(a, b, [&](int64_t lo, int64_t hi) { append(runs, lo, hi); });
  return runs;
}

int64_t countIntersection(const Runs &a, const Runs &b) {
  int64_t sum = 0;
  forEachCommon(a, b, [&](int64_t lo, int64_t hi) { sum += hi - lo; });
  return sum;
}

} // namespace pcc::dist
