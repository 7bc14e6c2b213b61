//===- StripedAttention.h - causal attention as one attention per stripe --===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H
#define PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H

#include "passes/4-shard/expand/ShardedBuilder.h"

namespace pcc::shard {

/// Replaces a causal attention op by one op per stripe, a range of consecutive
/// tokens (Stripes.h). The queries of stripe k read only the keys of stripes 0
/// to k, because the causal mask hides later keys.
class StripedAttention {
public:
  /// Prepares to replace `op`, a `graph.attention`. `b` builds the new ops and
  /// must outlive this object.
  StripedAttention(const ShardedOp &op, ShardedBuilder &b);

  /// Builds one causal attention op for the queries of each stripe (range of
  /// tokens). Every rank has all keys. Returns the value that replaces the
  /// result of the whole attention op.
  mlir::Value expand();

protected:
  /// Returns the queries of stripe (range of tokens) number `stripe`: [batch,
  /// heads, tokens of the stripe, size of a head].
  mlir::Value queriesOf(int64_t stripe);

  /// Concatenates the attention results of all stripes along the tokens. Each
  /// has the shape [batch, heads, tokens of a stripe, width of the values].
  mlir::Value joined(llvm::ArrayRef<mlir::Value> results);

  ShardedBuilder &b;
  graph::AttentionOp attention;
  /// Number of stripes (ranges of tokens), and of tokens in one stripe.
  int64_t stripes, length;

private:
  /// Returns the slice of `value` along dim `dim` with the tokens of stripe
  /// (range of tokens) number `stripe`, counted from 0.
  mlir::Value stripeOf(mlir::Value value, int64_t dim, int64_t stripe);
  /// Returns the slice of `keys` with stripes (ranges of tokens) 0 to `stripe`,
  /// which the queries of stripe `stripe` see. `keys` may also be the values.
  mlir::Value keysOf(mlir::Value keys, int64_t stripe);
  /// Returns the user's mask for the queries of stripe number `stripe` and the
  /// keys of stripes 0 to `stripe`. Returns null if there is no mask.
  mlir::Value maskOf(int64_t stripe);
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H
