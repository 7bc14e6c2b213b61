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
/// op `op` runs. Examples for 4 ranks that split one dim:
///
///  - softmax: all-reduces of the row maxima and of the row sums
///  - topk: an all-gather of the top elements of each rank, and an all-reduce
///    of the indices if another op reads them
///  - ring attention: 3 moves of keys and values to the previous rank. A move
///    is one reshard, or two if keys and values are separate tensors.
///  - addition: no reshard
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
