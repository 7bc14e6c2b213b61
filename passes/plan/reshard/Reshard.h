//===- Reshard.h - The cheapest way from one sharding to another ----------===//
//
// One planner prices every communication and lowers it. A movement without a
// reduction is one step at the lower bound max over ranks of |out| - |out in|:
// a named collective where the pattern is exactly one, after a free slice if
// that makes it one, else a pairwise exchange. Partial values are reduced by
// the cheapest of all_reduce and reduce_scatter followed by a movement. Bytes
// are those of reference volumes: all_gather and reduce_scatter (n-1)/n of the
// whole, all_reduce twice that, and otherwise the real elements that a rank
// lacks.
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

enum class ReshardStepKind {
  /// Every rank keeps a part of what it holds. No bytes, no call.
  Slice,
  /// From replicated to partial: the rank at coordinate 0 keeps the value,
  /// others the neutral element. No bytes.
  Mask,
  AllGather,
  AllToAll,
  /// Every rank takes over the whole shard of one rank, as in a ring.
  Permute,
  /// Pairwise sends of what is missing.
  Exchange,
  AllReduce,
  ReduceScatter,
};

/// "slice", "all_gather", …: the names in JSON.
const char *toString(ReshardStepKind kind);

struct ReshardStep {
  ReshardStepKind kind = ReshardStepKind::Slice;
  /// The sub-axes of the group, in mesh order, neighbours merged. Empty for a
  /// slice.
  dist::SubAxes axes;
  dist::Sharding before;
  dist::Sharding after;
  /// The operand on one rank.
  int64_t localBytes = 0;
  /// The most that any rank receives; real elements only.
  int64_t receivedBytes = 0;
};

struct ReshardPlan {
  std::vector<ReshardStep> steps;
  int64_t receivedBytes = 0;
  /// Steps that communicate.
  int calls = 0;
  double seconds = 0;
  /// Why there is no plan; empty if there is one. Nothing moves along the time
  /// axis.
  std::string error;

  bool possible() const { return error.empty(); }
};

/// Seconds of one collective along an axis = alpha + beta * bytes.
struct AxisPrice {
  double alpha = 0;
  double beta = 1;
};

/// A collective over several axes is as slow as the slowest of them. Without
/// anything known, bytes are the price.
struct Prices {
  AxisPrice any;
  /// Axes that differ from `any`.
  std::map<std::string, AxisPrice> axes;
  /// The machines that these are the prices of, if they are known.
  std::optional<Cluster> cluster = {};

  double seconds(const dist::SubAxes &over, int64_t bytes) const;
};

/// Plans once, without a cache. `from` and `to` need to be valid on the mesh;
/// partial axes of `from` along the time axis that `to` lacks are ignored:
/// accumulation happens in time. `to` may see dims through views, `from` may
/// not unless it is equal.
ReshardPlan planReshard(const dist::Sharding &from, const dist::Sharding &to,
                        const dist::Shape &shape, int64_t elementBytes,
                        const dist::Mesh &mesh, const Prices &prices = {});

/// max over ranks of |out| - |out in|, in elements; both without partials.
int64_t movementLowerBound(const dist::Sharding &from, const dist::Sharding &to,
                           const dist::Shape &shape, const dist::Mesh &mesh);

/// Plans for one mesh and one set of prices; remembers what it has planned. Not
/// thread-safe.
class ReshardPlanner {
public:
  explicit ReshardPlanner(dist::Mesh mesh, Prices prices = {});
  ~ReshardPlanner();

  /// The reference stays valid as long as the planner lives.
  const ReshardPlan &plan(const dist::Sharding &from, const dist::Sharding &to,
                          const dist::Shape &shape, int64_t elementBytes);

  const dist::Mesh &mesh() const { return meshValue; }
  /// What plans are priced for; without it their seconds are bytes.
  const std::optional<Cluster> &cluster() const { return prices.cluster; }
  size_t numPlanned() const;

private:
  struct Cache;
  dist::Mesh meshValue;
  Prices prices;
  std::unique_ptr<Cache> cache;
};

/// What one rank gets from another in a step that moves (not reduces): per dim
/// the runs of global indices, or of indices of the view that `to` has there.
struct ReshardPiece {
  int64_t fromRank = 0;
  std::vector<dist::Runs> box;
};

/// The pieces that make up the shard of `rank` after `step`: disjoint, together
/// all of it, the one that the rank already has included. Ranks are those of
/// `mesh` without the time axis; `where` gives the time coordinate if there is
/// one. Copies are taken from the replica that differs from `rank` along the
/// fewest axes.
std::vector<ReshardPiece> piecesOf(const ReshardStep &step,
                                   const dist::Shape &shape,
                                   const dist::Mesh &mesh,
                                   const dist::Coordinates &where);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_RESHARD_H
