//===- RingAttention.h - ring attention: keys rotate past the queries -----===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H
#define PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H

#include "passes/4-shard/graph/InnerExchanges.h"

namespace pcc::shard {

/// The two factors of an attention that ring attention (Liu et al. 2023) splits
/// over the same axes. The attention has as many queries as keys. Outside a
/// ring the keys stay whole on every rank. In a ring, each rank has one part of
/// the queries; the parts of keys and values rotate by one rank per step, and
/// every rank attends to one part at a time:
///
///   rank   step 0   step 1   step 2
///   0      k0 v0    k1 v1    k2 v2
///   1      k1 v1    k2 v2    k0 v0
///   2      k2 v2    k0 v0    k1 v1
struct Ring {
  /// Ids of the factors in the rule of the op. For an attention in stripes
  /// (Stripes.h) these are the tokens of each stripe.
  int queries, keys;
};

/// Returns the factors that a ring of `op` would split, whether or not an axis
/// splits them. Returns nothing if `op` is no `graph.attention`, or if the
/// numbers of queries and keys differ.
std::optional<Ring> ringOf(const ShardedOp &op);

/// Returns the axes along which the keys of `op` rotate; empty if `op` is no
/// ring.
dist::SubAxes ringAxes(const ShardedOp &op);

/// Returns whether keys and values can travel as one tensor: no axis splits the
/// width of the values. `op` must be an attention.
bool ringPacksKeysAndValues(const ShardedOp &op);

/// Returns the reshards that rotate keys and values, over all steps of the
/// ring: one or two for each of the c - 1 steps of a ring of c parts. Empty if
/// `op` is no ring.
llvm::SmallVector<InnerReshard, 2> ringReshards(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H
