//===- InnerExchanges.h - what the parts of one op tell each other --------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
#define PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// The reshard that makes one inner value whole.
struct InnerReshard {
  dist::Sharding from, to;
  dist::Shape shape;
  int64_t elementBytes;
};

/// How the inner values of `op` are exchanged; none if no Inner factor is
/// split.
///
///   softmax [8@d, 12@t] of f32:  [8@d] partial max(t) -> [8@d],
///                                [8@d] partial sum(t) -> [8@d]
///   topk 3 of [8@d, 12@t], t=2:  [8@d, 6@t] -> [8@d, -]
///   attention in a ring:         keys and values, as often as they move on
llvm::SmallVector<InnerReshard, 2> innerReshards(const ShardedOp &op);

/// Bytes and calls of these reshards.
plan::Cost innerCost(const ShardedOp &op, plan::ReshardPlanner &planner);

/// Bytes of what is alive within `op` besides its results: the scores of
/// attention, and keys and values as they are wanted. 0 for others.
double workspaceBytes(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
