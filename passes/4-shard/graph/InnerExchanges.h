//===- InnerExchanges.h - communication among the parts of one split op ---===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
#define PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// A reshard (change of sharding) that ranks need while one split op runs.
/// Examples:
///
/// - softmax along a split dim: an all-reduce, after which each rank has the
///   maximum over the whole dim
/// - ring attention: each rank receives the keys or values of the next rank
struct InnerReshard {
  /// Shardings before and after the reshard (change of sharding).
  dist::Sharding from, to;
  /// Global shape of the value that ranks exchange.
  dist::Shape shape;
  /// Bytes of one element of the value that is resharded.
  int64_t elementBytes;
};

/// Returns the reshards that ranks need while the split op `op` runs. A reshard
/// is a change of the sharding of a tensor. Examples for 4 ranks that split one
/// dim:
///
/// - A softmax along the dim needs two reshards. The first is an all-reduce of
///   the row maxima. The second is an all-reduce of the row sums.
/// - A topk along the dim, with k = 3, needs an all-gather. Each rank sends 3
///   elements of its part: those that the topk selects in this part. If another
///   op reads the indices that the topk returns, an all-reduce of the indices
///   follows.
/// - Ring attention has 3 steps. In each step, each rank receives the keys and
///   values of the next rank. This is one reshard if keys and values are sent
///   as one tensor, and two reshards if they are sent one after the other.
/// - An addition needs no reshard, because each rank can add its parts alone.
llvm::SmallVector<InnerReshard, 2> innerReshards(const ShardedOp &op);

/// Returns the total cost of the values that ranks exchange while the split op
/// `op` runs: received bytes per rank, number of calls, and time. The time is 0
/// without a cluster profile (bandwidths and speeds).
plan::Cost innerCost(const ShardedOp &op, plan::ReshardPlanner &planner);

/// Returns how many bytes the scores, the keys and the values of the attention
/// `op` have on one rank. Scores are the products of queries and keys. The
/// search counts these bytes as memory that the rank needs while the op runs.
/// If `op` is not a `graph.attention`, returns 0.
double workspaceBytes(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
