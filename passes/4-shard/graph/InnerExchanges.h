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

/// Returns the reshards (changes of sharding) that ranks need while the split
/// op `op` runs. Here 12@t is a dim of 12 that the axis t splits:
///
///   op                           reshards
///   softmax [8@d, 12@t]          [8@d] partial max(t) -> [8@d],
///                                [8@d] partial sum(t) -> [8@d]
///   topk of [8@d, 12@t], k = 3   all-gather of 3 candidates per rank of t
///   ring attention on c ranks    c - 1 exchanges of keys and values
///   op without exchanges         none
llvm::SmallVector<InnerReshard, 2> innerReshards(const ShardedOp &op);

/// Returns the total cost of the values that ranks exchange while the split op
/// `op` runs: received bytes per rank, number of calls, and time. The time is 0
/// without a cluster profile (bandwidths and speeds).
plan::Cost innerCost(const ShardedOp &op, plan::ReshardPlanner &planner);

/// Returns the bytes of temporaries of `op` on a rank while it runs. For
/// attention, these are the scores, and the keys and values as the op reads
/// them. For other ops, returns 0.
double workspaceBytes(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
