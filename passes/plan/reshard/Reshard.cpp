//===- Reshard.cpp - cheapest collectives from one sharding to another ----===//
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/reshard/ReshardMove.h"
#include "passes/plan/reshard/ReshardReduce.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <unordered_map>

using namespace pcc::dist;

namespace pcc::plan {

double Prices::seconds(const SubAxes &over, int64_t bytes) const {
  // `slowest.alpha` gets the largest latency of all axes in `over`.
  // `slowest.beta` gets the largest number of seconds per byte of all axes in
  // `over`. The two numbers may come from different axes.
  AxisPrice slowest{0, 0};
  for (const SubAxis &axis : over) {
    auto known = axes.find(axis.axis);
    const AxisPrice &own = known == axes.end() ? any : known->second;
    slowest = {std::max(slowest.alpha, own.alpha),
               std::max(slowest.beta, own.beta)};
  }
  return slowest.alpha + slowest.beta * static_cast<double>(bytes);
}

ReshardPlan planReshard(const Sharding &from, const Sharding &to,
                        const Shape &shape, int64_t elementBytes,
                        const Mesh &mesh, const Prices &prices) {
  assert(from.dims.size() == shape.size() && to.dims.size() == shape.size() &&
         "another rank");
  // The members `open`, `priority` and `replicated` of a sharding only control
  // sharding propagation. They do not change which elements a rank holds.
  // `placement` returns the sharding without these members. If `from` and `to`
  // differ only in these members, `start` and `end` are equal, and the plan has
  // no steps.
  Sharding start = placement(from), end = placement(to);
  if (start == end)
    return {};
  if (start.partials == end.partials)
    return planMovement(start, end, shape, elementBytes, mesh, prices);
  return planReduction(start, end, shape, elementBytes, mesh, prices);
}

namespace {
/// Key of the cache of reshard plans. Equal keys have equal plans.
struct Key {
  Sharding from, to;
  Shape shape;
  int64_t elementBytes;

  bool operator==(const Key &) const = default;
};

struct KeyHash {
  size_t operator()(const Key &key) const {
    size_t seed = hashValue(key.from);
    hashCombine(seed, hashValue(key.to));
    for (int64_t size : key.shape)
      hashCombine(seed, static_cast<size_t>(size));
    hashCombine(seed, static_cast<size_t>(key.elementBytes));
    return seed;
  }
};
} // namespace

/// Cached plans. An unordered map does not move its values, so the references
/// that `plan` returns stay valid.
struct ReshardPlanner::Cache {
  std::unordered_map<Key, ReshardPlan, KeyHash> plans;
};

ReshardPlanner::ReshardPlanner(Mesh mesh, Prices prices)
    : meshValue(std::move(mesh)), prices(std::move(prices)),
      cache(std::make_unique<Cache>()) {}

ReshardPlanner::~ReshardPlanner() = default;

size_t ReshardPlanner::numPlanned() const { return cache->plans.size(); }

const ReshardPlan &ReshardPlanner::plan(const Sharding &from,
                                        const Sharding &to, const Shape &shape,
                                        int64_t elementBytes) {
  Key key{from, to, shape, elementBytes};
  auto found = cache->plans.find(key);
  if (found != cache->plans.end())
    return found->second;
  ReshardPlan plan =
      planReshard(from, to, shape, elementBytes, meshValue, prices);
  return cache->plans.emplace(std::move(key), std::move(plan)).first->second;
}

} // namespace pcc::plan
