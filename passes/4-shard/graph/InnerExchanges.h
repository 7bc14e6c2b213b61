//===- InnerExchanges.h - communication among the parts of one split op ---===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
#define PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// A reshard (change of sharding) of a value that a split op computes on the
/// way to its result, such as the maximum of each row in a softmax. Every rank
/// then has the whole value. In ring attention, the value is the keys or
/// values, and each rank gets the part of the next rank.
struct InnerReshard {
  /// Shardings before and after the reshard (change of sharding).
  dist::Sharding from, to;
  /// Global shape of the value that is resharded.
  dist::Shape shape;
  /// Bytes of one element of the value that is resharded.
  int64_t elementBytes;
};

/// Returns the reshards by which the parts of a split op exchange values:
///
/// - If an Inner factor (a dim whose parts exchange values) is split: one
///   reshard for each value that the op computes on the way to its result.
/// - For ring attention: the reshards that move keys and values.
/// - For any other op: none.
///
/// Examples with dims that are split over axes d, t and c:
///
///   softmax [8@d, 12@t] of f32:  [8@d] partial max(t) -> [8@d],
///                                [8@d] partial sum(t) -> [8@d]
///   topk 3 of [8@d, 12@t], t=2:  [8@d, 6@t] -> [8@d, -], 3 per part
///   ring attention, c parts:     keys and values, c - 1 times
llvm::SmallVector<InnerReshard, 2> innerReshards(const ShardedOp &op);

/// Returns the total cost of the reshards that innerReshards returns: received
/// bytes per rank, number of calls, and time. The time is 0 if the planner has
/// no cluster profile (bandwidths and speeds).
plan::Cost innerCost(const ShardedOp &op, plan::ReshardPlanner &planner);

/// Returns how many bytes of temporaries `op` needs on a rank while it runs.
/// For attention, the temporaries are the scores, and the keys and values in
/// the sharding in which the op reads them. For other ops, returns 0.
double workspaceBytes(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
