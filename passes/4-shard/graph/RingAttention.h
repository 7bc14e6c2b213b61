//===- RingAttention.h - ring attention: keys rotate past the queries -----===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H
#define PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H

#include "passes/4-shard/graph/InnerExchanges.h"

namespace pcc::shard {

/// The two factors (dims, or parts of dims) of an attention op that ring
/// attention (Liu et al. 2023) splits over the same axes: the queries and the
/// keys. There must be as many queries as keys. Each rank has one part of the
/// queries, keys and values. In each step, a rank attends to one part of the
/// keys and values. It then sends this part to the rank before it:
///
///   rank   step 0   step 1   step 2
///   0      k0 v0    k1 v1    k2 v2
///   1      k1 v1    k2 v2    k0 v0
///   2      k2 v2    k0 v0    k1 v1
struct Ring {
  /// Index of the factor (dim, or part of a dim) of the queries in the sharding
  /// rule of the op, and index of the factor of the keys. If the sequence is in
  /// stripes (pieces; Stripes.h), the two factors are the tokens of each
  /// stripe.
  int queries, keys;
};

/// Returns the two factors (dims, or parts of dims) of `op` that ring attention
/// would split: queries and keys. No axis needs to split them yet. Returns
/// std::nullopt if `op` is no `graph.attention`, or if the numbers of queries
/// and keys differ.
std::optional<Ring> ringOf(const ShardedOp &op);

/// Returns the axes along which the keys of `op` move from rank to rank. Empty
/// if `op` is not split as ring attention.
dist::SubAxes ringAxes(const ShardedOp &op);

/// Returns whether keys and values can be sent as one tensor, joined along
/// their last dim. This is so if no axis splits the last dim of the values.
/// `op` must be an attention.
bool ringPacksKeysAndValues(const ShardedOp &op);

/// Returns the reshards that move keys and values in all steps of ring
/// attention. In a ring of c ranks there are c - 1 steps, each with one reshard
/// (keys and values as one tensor) or two. Empty if `op` is not split as ring
/// attention.
llvm::SmallVector<InnerReshard, 2> ringReshards(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H
