//===- Reshard.h - cheapest collectives from one sharding to another ------===//
//
// Plans a change of sharding as a sequence of collectives. One planner
// prices reshards during the search (edges priced as reshards; Alpa, Zheng et
// al. 2022) and lowers them to collectives, so every price is that of the
// communication which is executed.
//
// A movement without a reduction is one step that reaches the lower bound, max
// over ranks of |out| - |out in|: the elements of its new shard that a rank
// does not hold. The step is a named collective if the pattern is exactly one,
// or becomes one after a slice (which is free); otherwise it is a pairwise
// exchange. Partial values are reduced by the cheapest of all_reduce, and
// reduce_scatter followed by a movement.
//
// Received bytes are reference volumes: (n-1)/n of the whole for all_gather and
// reduce_scatter, twice that for all_reduce, and otherwise the real (unpadded)
// elements that a rank lacks.
//
//===----------------------------------------------------------------------===//
#ifndef PCC_PASSES_PLAN_RESHARD_RESHARD_H
#define PCC_PASSES_PLAN_RESHARD_RESHARD_H

#include "passes/plan/cluster/Cluster.h"
#include "sharding/CollectiveKind.h"
#include "sharding/Runs.h"
#include "sharding/Sharding.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pcc::plan {

/// One step of a reshard plan: a collective or a slice that changes the
/// sharding `before` into the sharding `after`.
struct ReshardStep {
  /// Kind of collective that the step executes; never Broadcast.
  dist::CollectiveKind kind = dist::CollectiveKind::Slice;
  /// Sub-axes (parts of mesh axes) of the ranks that communicate, in mesh
  /// order, adjacent parts merged. Empty for a slice.
  dist::SubAxes axes;
  dist::Sharding before;
  dist::Sharding after;
  /// Bytes of one rank's shard before this reshard step, padding included.
  int64_t localBytes = 0;
  /// Largest number of bytes that any rank receives in this reshard step,
  /// without padding.
  int64_t receivedBytes = 0;
};

/// The steps that change one sharding of a tensor into another, with their
/// price. If no sequence of steps exists, `error` states the reason.
struct ReshardPlan {
  /// Steps in order: the `after` of each step is the `before` of the next one.
  /// Empty if both shardings put every element on the same ranks.
  std::vector<ReshardStep> steps;
  /// Bytes that a rank receives, summed over all steps.
  int64_t receivedBytes = 0;
  /// Number of steps that communicate.
  int calls = 0;
  /// Price of all steps together. If a description of the cluster (machines and
  /// network) is given, the price is a time in seconds. Otherwise, the price is
  /// the number of bytes that a rank receives.
  double seconds = 0;
  /// Reason why no plan exists, such as a movement along the time axis (between
  /// microbatches). Empty if a plan exists.
  std::string error;

  bool possible() const { return error.empty(); }
};

/// Price of one collective along one mesh axis: alpha + beta * received bytes,
/// in seconds.
struct AxisPrice {
  double alpha = 0;
  double beta = 1;
};

/// Prices of communication along the axes of a mesh. The default price of a
/// collective is the number of bytes that a rank receives.
struct Prices {
  /// Price of every axis that is not in `axes`.
  AxisPrice any;
  /// Price of each axis that differs from `any`, by the name of the axis.
  std::map<std::string, AxisPrice> axes;
  /// Description of the machines and the network. The prices in seconds are
  /// computed from this description. If the description is std::nullopt, a
  /// price is not a time, but the number of bytes that a rank receives.
  std::optional<Cluster> cluster = {};

  /// Returns the seconds of one collective along the axes `over` in which a
  /// rank receives `bytes`. Latency and seconds per byte are each the largest
  /// of these axes.
  double seconds(const dist::SubAxes &over, int64_t bytes) const;
};

/// Returns the cheapest plan that changes the sharding of a tensor from `from`
/// to `to`. A plan is a list of collectives and slices. This function does not
/// store plans. The class ReshardPlanner calls it and stores the plans in a
/// cache.
///
///  - `from` and `to` must be valid on `mesh` for a tensor of the shape
///    `shape`.
///  - The coordinates along the time axis are microbatches, not ranks. A tensor
///    is partial along the time axis if each microbatch computes one summand of
///    the tensor. If `from` is partial along the time axis and `to` is not, the
///    plan contains no step for the sum over microbatches, because the sum
///    needs no communication between ranks.
///  - A dim of a sharding has a view if a rank reads elements outside of its
///    own part of the dim. For example, a convolution also reads rows of
///    neighboring ranks (a halo exchange). `to` may have views. `from` may have
///    views only if `from` is equal to `to`.
ReshardPlan planReshard(const dist::Sharding &from, const dist::Sharding &to,
                        const dist::Shape &shape, int64_t elementBytes,
                        const dist::Mesh &mesh, const Prices &prices = {});

/// Plans reshards for one mesh and one set of prices, and stores the plans in a
/// cache. Not thread-safe.
class ReshardPlanner {
public:
  explicit ReshardPlanner(dist::Mesh mesh, Prices prices = {});
  ~ReshardPlanner();

  /// Returns the result of planReshard, from the cache if possible. The
  /// reference stays valid as long as the planner lives.
  const ReshardPlan &plan(const dist::Sharding &from, const dist::Sharding &to,
                          const dist::Shape &shape, int64_t elementBytes);

  const dist::Mesh &mesh() const { return meshValue; }
  /// Returns the description of the cluster (machines and network) from which
  /// the prices in seconds are computed. If there is no description, returns
  /// std::nullopt. A price is then not a time, but the number of bytes that a
  /// rank receives.
  const std::optional<Cluster> &cluster() const { return prices.cluster; }
  /// Returns the number of plans in the cache.
  size_t numPlanned() const;

private:
  struct Cache;
  dist::Mesh meshValue;
  Prices prices;
  std::unique_ptr<Cache> cache;
};

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARD_H
