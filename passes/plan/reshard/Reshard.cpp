//===- Reshard.cpp - cheapest collectives from one sharding to another ----===//
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/reshard/ClusterPrices.h"
#include "passes/plan/reshard/ReshardMove.h"
#include "passes/plan/reshard/ReshardReduce.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <unordered_map>

using namespace pcc::dist;

namespace pcc::plan {

double Prices::seconds(CollectiveKind kind, const SubAxes &over,
                       int64_t bytes) const {
  const auto received = static_cast<double>(bytes);
  return cluster ? cluster->commSeconds(toString(kind), groupOf(over, mesh),
                                        received)
                 : received;
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
