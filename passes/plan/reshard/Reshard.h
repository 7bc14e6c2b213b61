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
  /// Kind of the collective or slice. In a Slice, each rank keeps a part of its
  /// elements without communication. In a Mask, some ranks replace their
  /// elements by the neutral element of a reduction, such as 0 for a sum. A
  /// Broadcast never occurs here.
  dist::CollectiveKind kind = dist::CollectiveKind::Slice;
  /// Sub-axes (mesh axes or parts of mesh axes) along which ranks communicate,
  /// in mesh order. Adjacent parts of one mesh axis are merged into one entry.
  /// For example, an all-gather along {tp} runs in groups of ranks that differ
  /// only in their coordinate along tp. In a Slice, the list is empty. In a
  /// Mask, the list has the sub-axes along which the tensor becomes partial,
  /// and the ranks at coordinate 0 of these sub-axes keep their elements.
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
  /// Steps of the plan, in the order of execution. Each step changes the tensor
  /// from the sharding `before` to the sharding `after`. For example, a plan
  /// with two steps changes a tensor from the sharding A to the sharding C.
  /// Step 0 changes the tensor from A to B, and step 1 changes the tensor from
  /// B to C. The list is empty if no step is needed, or if no plan exists.
  std::vector<ReshardStep> steps;
  /// Sum of the bytes of all steps. The bytes of a step are the largest number
  /// of bytes that any rank receives in the step (ReshardStep::receivedBytes).
  int64_t receivedBytes = 0;
  /// Number of steps of the plan in which ranks communicate, such as an
  /// all-gather. A slice does not count, because each rank executes it alone.
  int calls = 0;
  /// Price of all steps together. If a description of the cluster (machines and
  /// network) is given, the price is a time in seconds. Otherwise, the price is
  /// the number of bytes that a rank receives.
  double seconds = 0;
  /// Message with the reason why no plan exists. Empty if a plan exists. An
  /// example of a message is "elements would move between microbatches". A plan
  /// can move elements from one rank to another rank, but not from one
  /// microbatch to another microbatch.
  std::string error;

  bool possible() const { return error.empty(); }
};

/// Prices of communication over the axes of a mesh. If the member `cluster`
/// describes the machines and the network, the price of a collective is a time
/// in seconds. Otherwise, the price of a collective is the number of bytes that
/// a rank receives in the collective.
struct Prices {
  std::optional<Cluster> cluster = {};
  /// Mesh of the program, which gives ranks their numbers. Unused without
  /// `cluster`.
  dist::Mesh mesh = {};

  /// Returns the price of one collective of the given kind over the mesh axes
  /// `over`, in which a rank receives `bytes` bytes.
  double seconds(dist::CollectiveKind kind, const dist::SubAxes &over,
                 int64_t bytes) const;
};

/// Returns the cheapest list of collectives and slices that changes a tensor
/// from `from` to `to`. `from` may have views (windowed reads, such as halos of
/// a convolution) only if `from` and `to` are equal. The plan never contains
/// the sum over microbatches, also if `from` is partial along the microbatch
/// axis and `to` is not.
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
  /// Returns the description of the machines and the network; prices are then
  /// seconds. Returns std::nullopt if there is none; prices are then received
  /// bytes.
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
