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
/// dim of `op`:
///
/// - Softmax along the dim: two reshards. The first is an all-reduce of the row
///   maxima. The second is an all-reduce of the row sums.
/// - Topk along the dim, with k = 3: one reshard. Each rank selects the top 3
///   elements of its part. An all-gather sends these elements to all ranks. If
///   another op reads the indices that the topk returns, there is a second
///   reshard: an all-reduce of the indices.
/// - Ring attention: 3 or 6 reshards. At first, each rank has its own part of
///   the keys and values. The parts then move 3 times, so that each rank has
///   each of the 4 parts once. In each move, each rank receives the part of the
///   next rank. If keys and values are sent as one tensor, a move is one
///   reshard. If they are sent as two tensors, a move is two reshards.
/// - Addition: no reshard, because each rank can add its parts alone.
llvm::SmallVector<InnerReshard, 2> innerReshards(const ShardedOp &op);

/// Returns the cost of the communication inside of the split op `op`. Ranks may
/// exchange values while `op` runs. For example, in a softmax along a split
/// dim, an all-reduce computes the row maxima, and another all-reduce computes
/// the row sums. The cost is the sum over all exchanges of `op`. It contains
///
/// - the bytes that one rank receives
/// - the number of communication calls: 2 for the two all-reduces
/// - the time in picoseconds. The time is 0 if `planner` has no cluster
///   profile. A cluster profile contains the bandwidths and the speeds of the
///   hardware.
plan::Cost innerCost(const ShardedOp &op, plan::ReshardPlanner &planner);

/// Returns how many bytes the scores, the keys and the values of the attention
/// `op` have on one rank. Scores are the products of queries and keys. The
/// search counts these bytes as memory that the rank needs while the op runs.
/// If `op` is not a `graph.attention`, returns 0.
double workspaceBytes(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_INNEREXCHANGES_H
