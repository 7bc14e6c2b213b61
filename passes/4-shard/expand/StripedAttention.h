//===- StripedAttention.h - causal attention as one attention per stripe --===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H
#define PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H

#include "passes/4-shard/expand/ShardedBuilder.h"

namespace pcc::shard {

/// Replaces an attention whose tokens are in stripes (contiguous pieces of the
/// sequence; Stripes.h) by one attention per stripe. Under the causal mask, the
/// queries of a stripe see only the keys up to the end of the stripe. This
/// class is also the base class of the expansion of ring attention, where the
/// sequence may be a single stripe.
///
///   stripe of queries   stripes of keys that it sees
///   0                   0
///   1                   0 1
///   2                   0 1 2
class StripedAttention {
public:
  /// Prepares to replace `op`, a `graph.attention`. `b` builds the new ops and
  /// must outlive this object.
  StripedAttention(const ShardedOp &op, ShardedBuilder &b);

  /// Builds one causal attention per stripe (contiguous piece) of the queries,
  /// over the keys up to the end of that stripe. Every rank has all keys.
  /// Returns the value that replaces the result of the attention.
  mlir::Value expand();

protected:
  /// Returns the queries of the stripe (contiguous piece of the sequence) with
  /// the index `stripe`. The dims are batch, heads, tokens of the stripe, and
  /// size of a head.
  mlir::Value queriesOf(int64_t stripe);

  /// Joins the attention results of all stripes (contiguous pieces of the
  /// sequence) along the tokens and returns the result for all queries. The
  /// dims are batch, heads, tokens, and width of the values.
  mlir::Value joined(llvm::ArrayRef<mlir::Value> results);

  ShardedBuilder &b;
  graph::AttentionOp attention;
  /// Number of stripes (contiguous pieces of the sequence), and number of
  /// tokens in one stripe.
  int64_t stripes, length;

private:
  /// Returns the slice of `value` along dim `dim` that holds the tokens of
  /// stripe number `stripe` (a contiguous piece of the sequence), counted from
  /// 0.
  mlir::Value stripeOf(mlir::Value value, int64_t dim, int64_t stripe);
  /// Returns the slice of `keys` that the queries of stripe number `stripe` (a
  /// contiguous piece of the sequence) see under the causal mask: the keys of
  /// the stripes 0 to `stripe`. `keys` may also be the values of the attention.
  mlir::Value keysOf(mlir::Value keys, int64_t stripe);
  /// Returns the part of the user's mask for the queries of stripe number
  /// `stripe` (a contiguous piece of the sequence) and the keys that they see.
  /// Returns null if there is no mask.
  mlir::Value maskOf(int64_t stripe);
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H
