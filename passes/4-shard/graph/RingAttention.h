//===- RingAttention.h - ring attention: keys rotate past the queries -----===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H
#define PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H

#include "passes/4-shard/graph/InnerExchanges.h"

namespace pcc::shard {

/// The two factors (dims, or parts of dims) that ring attention (Liu et al.
/// 2023) splits over the same mesh axes. One factor belongs to the dim of the
/// queries, and the other to the dim of the keys. Both have the same size. Each
/// rank keeps its part of the queries. In each step, a rank computes attention
/// for one part of the keys and values. Between two steps, each rank sends this
/// part to the rank before it, and rank 0 sends it to the last rank. The table
/// shows the part that each rank has in each step, for 3 ranks:
///
///   rank   step 0   step 1   step 2
///   0      k0 v0    k1 v1    k2 v2
///   1      k1 v1    k2 v2    k0 v0
///   2      k2 v2    k0 v0    k1 v1
struct Ring {
  /// Two factors of the attention op. A factor is a dim, or part of a dim.
  /// `queries` is the dim of tokens in the queries, and `keys` is the dim of
  /// tokens in the keys. Both are indices into the factors of the op's sharding
  /// rule. If the sequence is cut into stripes (contiguous pieces), the dim of
  /// tokens has two factors: the number of stripes, and the number of tokens in
  /// one stripe. In this case, `queries` and `keys` are the second factors.
  int queries, keys;
};

/// Returns the two factors (dims, or parts of dims) of `op` that ring attention
/// can split over ranks: one of the queries and one of the keys. It does not
/// matter whether mesh axes split these factors already. Returns std::nullopt
/// if ring attention is not possible for `op`. Examples are an op other than
/// `graph.attention`, and an attention with different numbers of queries and
/// keys.
std::optional<Ring> ringOf(const ShardedOp &op);

/// Returns the axes along which the keys of `op` move from rank to rank. Empty
/// if `op` is not split as ring attention.
dist::SubAxes ringAxes(const ShardedOp &op);

/// Returns whether ring attention may send keys and values as one tensor,
/// joined along their last dim. This is so if no axis splits the last dim of
/// the values. `op` must be an attention.
bool ringPacksKeysAndValues(const ShardedOp &op);

/// Returns the reshards by which ring attention moves keys and values between
/// ranks. A reshard is a change of the sharding of one tensor. At first, each
/// rank has its own part of the keys and values. On 4 ranks, the parts then
/// move 3 times, so that each rank has each of the 4 parts once. In each move,
/// each rank receives the part of the next rank. The last rank receives the
/// part of the first rank. The number of reshards in each move is:
///
/// - 1 if keys and values are sent as one tensor (see ringPacksKeysAndValues)
/// - 2 if they are sent as two tensors: first the keys, then the values
///
/// If `op` is not split as ring attention, the list is empty.
llvm::SmallVector<InnerReshard, 2> ringReshards(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_RINGATTENTION_H
