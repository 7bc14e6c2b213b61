//===- RingAttention.h - ring attention: keys rotate past the queries -----===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H
#define PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H

#include "passes/4-shard/graph/InnerExchanges.h"

namespace pcc::shard {

/// The two loop dims of an attention that ring attention (Liu et al. 2023)
/// splits over the same mesh axes. Each rank keeps its queries. Keys and values
/// move to the previous rank between two rounds. For 3 ranks:
///
///   rank   round 0   round 1   round 2
///   0      k0 v0     k1 v1     k2 v2
///   1      k1 v1     k2 v2     k0 v0
///   2      k2 v2     k0 v0     k1 v1
struct Ring {
  /// Token dims of the queries and of the keys, as indices into `factors` (loop
  /// dims) of the sharding rule. If the sequence is cut into stripes, each
  /// index is that of the tokens within a stripe.
  int queries, keys;
};

/// Returns the loop dims of `op` that ring attention can split, whether or not
/// an axis splits them now. Returns std::nullopt if `op` does not allow ring
/// attention, for example if there are more keys than queries.
std::optional<Ring> ringOf(const ShardedOp &op);

/// Returns the axes along which the keys of `op` move from rank to rank. Empty
/// if `op` is not split as ring attention.
dist::SubAxes ringAxes(const ShardedOp &op);

/// Returns whether ring attention may send keys and values as one tensor,
/// concatenated along the last dim. The result is true if no axis splits the
/// last dim of the values. `op` must be an attention.
bool ringPacksKeysAndValues(const ShardedOp &op);

/// Returns the moves of keys and values between ranks in ring attention, as
/// reshards. On n ranks, there are n - 1 moves. Each move is one reshard, or
/// two if keys and values are separate (ringPacksKeysAndValues). Empty if `op`
/// is not split as ring attention.
llvm::SmallVector<InnerReshard, 2> ringReshards(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H
