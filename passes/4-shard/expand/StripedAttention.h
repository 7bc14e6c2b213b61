//===- StripedAttention.h - causal attention as one attention per stripe --===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H
#define PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H

#include "passes/4-shard/expand/ShardedBuilder.h"

namespace pcc::shard {

/// Expands an attention whose tokens are in stripes (Stripes.h). Also the base
/// of the expansion of a ring, whose tokens may be in one piece (`stripes` of
/// 1).
///
///   stripe of queries   keys that it sees
///   0                   0
///   1                   0 1
///   2                   0 1 2
class StripedAttention {
public:
  /// Prepares the expansion of `op`, a `graph.attention`. `b` must outlive
  /// this.
  StripedAttention(const ShardedOp &op, ShardedBuilder &b);

  /// Replaces the attention by one causal attention per stripe of queries, over
  /// the keys up to the end of that stripe. Every rank holds all keys. Returns
  /// the result in the shape of the attention's result.
  mlir::Value expand();

protected:
  /// Returns the queries of one stripe, [B, H, length, D].
  mlir::Value queriesOf(int64_t stripe);

  /// Returns the result for all queries, [B, H, S, E], joined from the results
  /// of all stripes, [B, H, length, E] each.
  mlir::Value joined(llvm::ArrayRef<mlir::Value> results);

  ShardedBuilder &b;
  graph::AttentionOp attention;
  /// Number of stripes, and tokens of each.
  int64_t stripes, length;

private:
  /// Returns stripe `stripe` of dim `dim` of `value`.
  mlir::Value stripeOf(mlir::Value value, int64_t dim, int64_t stripe);
  /// Returns the keys (or values) that stripe `stripe` of the queries sees: its
  /// own and those before it.
  mlir::Value keysOf(mlir::Value keys, int64_t stripe);
  /// Returns the user's mask for stripe `stripe` of the queries and the keys
  /// that it sees; null if there is no mask.
  mlir::Value maskOf(int64_t stripe);
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H
