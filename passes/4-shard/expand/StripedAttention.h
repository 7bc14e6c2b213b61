//===- StripedAttention.h - causal attention as one attention per stripe --===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H
#define PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H

#include "passes/4-shard/expand/ShardedBuilder.h"

namespace pcc::shard {

/// Replaces one causal attention op by several, one for the queries of each
/// stripe. A stripe is a contiguous piece of the sequence (Stripes.h). The
/// causal mask hides keys of later stripes. The queries of stripe 2 therefore
/// read only the keys of stripes 0, 1 and 2. The derived class
/// RingAttentionExpansion replaces attention in which ranks send keys to each
/// other (ring attention).
class StripedAttention {
public:
  /// Prepares to replace `op`, a `graph.attention`. `b` builds the new ops and
  /// must outlive this object.
  StripedAttention(const ShardedOp &op, ShardedBuilder &b);

  /// Builds one causal attention op for the queries of each stripe (piece of
  /// the sequence). Every rank has all keys. Returns the value that replaces
  /// the result of the whole attention op.
  mlir::Value expand();

protected:
  /// Returns the queries of stripe (piece of the sequence) number `stripe`:
  /// [batch, heads, tokens of the stripe, size of a head].
  mlir::Value queriesOf(int64_t stripe);

  /// Returns the result of the whole attention. `results` contains the
  /// attention result of each stripe, in order. A stripe is a contiguous piece
  /// of the sequence. The function joins the tokens of all stripes. Example
  /// with 2 stripes of 3 tokens:
  ///
  ///   each of `results`   [batch, heads, 3, width of the values]
  ///   returned value      [batch, heads, 6, width of the values]
  mlir::Value joined(llvm::ArrayRef<mlir::Value> results);

  ShardedBuilder &b;
  graph::AttentionOp attention;
  /// Number of stripes (pieces of the sequence), and of tokens in one stripe.
  int64_t stripes, length;

private:
  /// Returns the slice of `value` along dim `dim` with the tokens of stripe
  /// (piece of the sequence) number `stripe`, counted from 0.
  mlir::Value stripeOf(mlir::Value value, int64_t dim, int64_t stripe);
  /// Returns the slice of `keys` with stripes (pieces of the sequence) 0 to
  /// `stripe`, which the queries of stripe `stripe` see. `keys` may also be the
  /// values.
  mlir::Value keysOf(mlir::Value keys, int64_t stripe);
  /// Returns the user's mask for the queries of stripe number `stripe` and for
  /// the keys of stripes 0 to `stripe`. A stripe is a contiguous piece of the
  /// sequence. The queries do not see later keys, because the attention is
  /// causal. Returns null if the user gives no mask. Example with 3 stripes of
  /// 4 tokens and a mask [12 queries, 12 keys]: for stripe 1, returns the mask
  /// of queries 4 to 7 and keys 0 to 7, with the shape [4, 8].
  mlir::Value maskOf(int64_t stripe);
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H
