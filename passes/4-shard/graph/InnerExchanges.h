//===- InnerExchanges.h - communication among the parts of one split op ---===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
#define PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H

#include "passes/4-shard/graph/ShardedOp.h"
#include "passes/plan/reshard/Reshard.h"
#include "passes/plan/search/CostGraph.h"

namespace pcc::shard {

/// A reshard (change of sharding) inside of a split op. It makes an inner value
/// of the op's rule (such as the maximum of a softmax) whole on every rank. In
/// ring attention, it moves keys or values to the next rank.
struct InnerReshard {
  /// Shardings of the value before and after the reshard.
  dist::Sharding from, to;
  /// Global shape of the value.
  dist::Shape shape;
  /// Bytes of one element.
  int64_t elementBytes;
};

/// Returns the reshards by which the parts of a split op exchange values. If an
/// Inner factor (a dim whose parts exchange values) is split, they make the
/// inner values of the op whole. In ring attention, they move keys and values.
/// For any other op, the list is empty. Examples, with dims split over d, t and
/// c:
///
///   softmax [8@d, 12@t] of f32:  [8@d] partial max(t) -> [8@d],
///                                [8@d] partial sum(t) -> [8@d]
///   topk 3 of [8@d, 12@t], t=2:  [8@d, 6@t] -> [8@d, -]
///   ring attention, c parts:     keys and values, c - 1 times
llvm::SmallVector<InnerReshard, 2> innerReshards(const ShardedOp &op);

/// Returns the total cost of the reshards that innerReshards returns: received
/// bytes per rank, calls and, if the planner knows a cluster, time.
plan::Cost innerCost(const ShardedOp &op, plan::ReshardPlanner &planner);

/// Returns how many bytes `op` needs on a rank for temporaries while it runs.
/// For attention these are the scores, and keys and values in the sharding that
/// the op reads. Other ops need 0.
double workspaceBytes(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
