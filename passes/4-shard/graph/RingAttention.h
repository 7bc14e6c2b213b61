//===- RingAttention.h - ring attention: keys rotate past the queries -----===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H
#define PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H

#include "passes/4-shard/graph/InnerExchanges.h"

namespace pcc::shard {

/// The two factors (dims, or parts of dims) that ring attention (Liu et al.
/// 2023) splits over the same axes: equally many queries and keys. In each
/// step, a rank attends to one part of the keys and values, and sends it to the
/// rank before it:
///
///   rank   step 0   step 1   step 2
///   0      k0 v0    k1 v1    k2 v2
///   1      k1 v1    k2 v2    k0 v0
///   2      k2 v2    k0 v0    k1 v1
struct Ring {
  /// Factors (dims, or parts of dims) of the queries and of the keys, as
  /// indices into the sharding rule of the attention op. If the sequence is cut
  /// into stripes (pieces; Stripes.h), they are the tokens of each stripe.
  int queries, keys;
};

/// Returns the queries and keys of `op` that ring attention would split. No
/// axis needs to split them yet. Returns std::nullopt if `op` is no
/// `graph.attention`, or if the numbers of queries and keys differ.
std::optional<Ring> ringOf(const ShardedOp &op);

/// Returns the axes along which the keys of `op` move from rank to rank. Empty
/// if `op` is not split as ring attention.
dist::SubAxes ringAxes(const ShardedOp &op);

/// Returns whether ring attention may send keys and values as one tensor,
/// joined along their last dim. This is so if no axis splits the last dim of
/// the values. `op` must be an attention.
bool ringPacksKeysAndValues(const ShardedOp &op);

/// Returns the reshards (changes of sharding) that move keys and values in ring
/// attention. A ring of c ranks has c - 1 steps, each with one reshard (keys
/// and values as one tensor) or two. Empty if `op` is not split as ring
/// attention.
llvm::SmallVector<InnerReshard, 2> ringReshards(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H
