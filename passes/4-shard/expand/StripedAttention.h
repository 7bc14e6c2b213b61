//===- StripedAttention.h - causal attention, stripe by stripe ------------===//

#ifndef PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H
#define PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H

#include "passes/4-shard/expand/ShardedBuilder.h"

namespace pcc::shard {

/// The tokens of an attention in stripes (Stripes.h), or in one piece.
class StripedAttention {
public:
  StripedAttention(const ShardedOp &op, ShardedBuilder &b);

  /// Keys of which all ranks have all: each stripe of queries sees a longer
  /// piece of them, and is an attention of its own.
  mlir::Value expand();

protected:
  /// [B, H, length, D] of the queries of a stripe.
  mlir::Value queriesOf(int64_t stripe);

  /// [B, H, S, E] of what the queries of each stripe get, [B, H, length, E].
  mlir::Value joined(llvm::ArrayRef<mlir::Value> results);

  ShardedBuilder &b;
  graph::AttentionOp attention;
  int64_t stripes, length; ///< and tokens of each

private:
  mlir::Value stripeOf(mlir::Value value, int64_t dim, int64_t stripe);
  mlir::Value keysOf(mlir::Value keys, int64_t stripe);
  mlir::Value maskOf(int64_t stripe);
};

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_EXPAND_STRIPEDATTENTION_H
