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

#include "dialects/dist/Runs.h"
#include "dialects/dist/Sharding.h"
#include "passes/plan/cluster/Cluster.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace pcc::plan {

/// Kinds of steps of a reshard plan. Slice and Mask are local.
enum class ReshardStepKind {
  /// Every rank keeps a part of its shard. No bytes, no call.
  Slice,
  /// From replicated to partial: the rank at coordinate 0 keeps the value, all
  /// others get the neutral element of the reduction. No bytes, no call.
  Mask,
  /// Every rank of the group gets the shards of all ranks of the group.
  AllGather,
  /// Every rank of the group sends an equal, disjoint part of its shard to
  /// every other rank: axes move from one dim to another.
  AllToAll,
  /// Every rank gets the whole shard of one rank, as in a ring.
  Permute,
  /// Pairwise sends of the elements that are missing.
  Exchange,
  /// Partial values are reduced; every rank of the group gets the result.
  AllReduce,
  /// Partial values are reduced; every rank of the group gets a part of the
  /// result.
  ReduceScatter,
};

/// Returns the name of a step kind in JSON files: "slice", "all_gather", ….
const char *toString(ReshardStepKind kind);

/// One step of a plan: it turns the sharding `before` into `after`.
struct ReshardStep {
  ReshardStepKind kind = ReshardStepKind::Slice;
  /// The sub-axes of the group in mesh order, with neighbours merged. Empty for
  /// a slice.
  dist::SubAxes axes;
  dist::Sharding before;
  dist::Sharding after;
  /// Bytes of the operand on one rank, padding included.
  int64_t localBytes = 0;
  /// Largest number of bytes that any rank receives, without padding.
  int64_t receivedBytes = 0;
};

/// A sequence of steps with its price, or the reason why there is none.
struct ReshardPlan {
  /// Steps in order: the `after` of each is the `before` of the next one. Empty
  /// if both shardings are the same placement.
  std::vector<ReshardStep> steps;
  /// Received bytes, summed over the steps.
  int64_t receivedBytes = 0;
  /// Number of steps that communicate.
  int calls = 0;
  /// Price, summed over the steps. If no prices are known, it is the received
  /// bytes (see Prices).
  double seconds = 0;
  /// Reason why there is no plan, such as elements that would move along the
  /// time axis; empty if there is a plan.
  std::string error;

  bool possible() const { return error.empty(); }
};

/// Price of one collective along an axis: seconds = alpha + beta * bytes.
struct AxisPrice {
  double alpha = 0;
  double beta = 1;
};

/// Prices of communication over the axes of a mesh. By default a received byte
/// costs 1 and a call nothing.
struct Prices {
  /// Price of every axis that is not in `axes`.
  AxisPrice any;
  /// Prices by axis name.
  std::map<std::string, AxisPrice> axes;
  /// The machines that the prices belong to, if they are known.
  std::optional<Cluster> cluster = {};

  /// Returns the seconds of one collective over the axes `over` in which a rank
  /// receives `bytes`. Latency and bandwidth are those of the slowest axis.
  double seconds(const dist::SubAxes &over, int64_t bytes) const;
};

/// Returns the cheapest plan from `from` to `to`, without a cache.
///
/// Both shardings must be valid on the mesh for a tensor of `shape`. Partial
/// axes of `from` along the time axis that `to` lacks are ignored, because
/// accumulation over microbatches is no communication. `to` may have views
/// (halos); `from` may have views only if it is equal to `to`.
ReshardPlan planReshard(const dist::Sharding &from, const dist::Sharding &to,
                        const dist::Shape &shape, int64_t elementBytes,
                        const dist::Mesh &mesh, const Prices &prices = {});

/// Returns the largest number of elements of its shard of `to` that any rank
/// does not hold under `from`. No movement receives less. Neither sharding may
/// have partial axes.
int64_t movementLowerBound(const dist::Sharding &from, const dist::Sharding &to,
                           const dist::Shape &shape, const dist::Mesh &mesh);

/// A cache of plans for one mesh and one set of prices. Not thread-safe.
class ReshardPlanner {
public:
  explicit ReshardPlanner(dist::Mesh mesh, Prices prices = {});
  ~ReshardPlanner();

  /// Returns the plan of planReshard. The reference stays valid as long as the
  /// planner lives.
  const ReshardPlan &plan(const dist::Sharding &from, const dist::Sharding &to,
                          const dist::Shape &shape, int64_t elementBytes);

  const dist::Mesh &mesh() const { return meshValue; }
  /// Returns the machines that plans are priced for. Without a value, the
  /// seconds of plans are received bytes.
  const std::optional<Cluster> &cluster() const { return prices.cluster; }
  /// Returns the number of different plans in the cache.
  size_t numPlanned() const;

private:
  struct Cache;
  dist::Mesh meshValue;
  Prices prices;
  std::unique_ptr<Cache> cache;
};

/// The elements that one rank gets from rank `fromRank` in a step that moves
/// and does not reduce. `box` holds, per dim, the runs of global indices; for a
/// dim that `to` sees through a view, the runs of indices of the view.
struct ReshardPiece {
  int64_t fromRank = 0;
  std::vector<dist::Runs> box;
};

/// Returns the pieces of which the rank at `where` assembles its shard after
/// `step`. The pieces are disjoint and cover the shard; the piece that the rank
/// holds already is included.
///
/// `where` has one coordinate per axis of `mesh`, the time axis included if
/// there is one, while `fromRank` counts the ranks of the mesh without the time
/// axis. If several replicas hold a piece, it comes from the rank that differs
/// from the receiver along the fewest axes.
std::vector<ReshardPiece> piecesOf(const ReshardStep &step,
                                   const dist::Shape &shape,
                                   const dist::Mesh &mesh,
                                   const dist::Coordinates &where);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARD_H
