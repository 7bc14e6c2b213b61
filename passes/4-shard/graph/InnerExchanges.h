//===- InnerExchanges.h - communication among the parts of one split op ---===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
#define PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// The reshard that makes one inner value of a rule whole on every rank, or
/// moves it on by one rank in a ring.
struct InnerReshard {
  /// Shardings of the value before and after the reshard.
  dist::Sharding from, to;
  /// Global shape of the value.
  dist::Shape shape;
  /// Bytes of one element.
  int64_t elementBytes;
};

/// Returns the reshards that exchange the inner values of `op` among its parts,
/// and those of its ring. Empty if no Inner factor is split and `op` is no
/// ring.
///
///   softmax [8@d, 12@t] of f32:  [8@d] partial max(t) -> [8@d],
///                                [8@d] partial sum(t) -> [8@d]
///   topk 3 of [8@d, 12@t], t=2:  [8@d, 6@t] -> [8@d, -]
///   ring attention, c parts:     keys and values, c - 1 times
llvm::SmallVector<InnerReshard, 2> innerReshards(const ShardedOp &op);

/// Returns the total cost of these reshards: bytes received per rank, calls
/// and, if a cluster is known, time.
plan::Cost innerCost(const ShardedOp &op, plan::ReshardPlanner &planner);

/// Returns the bytes per rank of temporaries within `op`, results apart. For
/// attention these are the scores, and the keys and values in the sharding that
/// the op needs. 0 for other ops.
double workspaceBytes(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
