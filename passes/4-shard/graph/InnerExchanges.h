//===- InnerExchanges.h - communication among the parts of one split op ---===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
#define PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// Communication among ranks while a split op runs. It is described as a change
/// of a tensor's sharding. For a softmax along a split dim, an all-reduce of
/// the row maxima is one InnerReshard.
struct InnerReshard {
  /// Shardings before and after the reshard (change of sharding).
  dist::Sharding from, to;
  /// Global shape of the value that ranks exchange.
  dist::Shape shape;
  /// Bytes of one element of the value that is resharded.
  int64_t elementBytes;
};

/// Returns all communication that ranks need while the split op `op` runs.
/// Empty if they need none, as for an addition. A softmax along a split dim
/// needs two all-reduces: one of the row maxima, and one of the row sums.
llvm::SmallVector<InnerReshard, 2> innerReshards(const ShardedOp &op);

/// Returns the cost of all communication that ranks need while the split op
/// `op` runs: bytes received by one rank, collective calls, and picoseconds.
/// The time is 0 if `planner` has no cluster profile (bandwidths and speeds).
plan::Cost innerCost(const ShardedOp &op, plan::ReshardPlanner &planner);

/// Returns the bytes on one rank of the scores, keys and values of the
/// attention `op`. Scores are the products of queries and keys. Returns 0 if
/// `op` is not a `graph.attention`.
double workspaceBytes(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
