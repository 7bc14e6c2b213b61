//===- CompositeCausal.cpp - masked attention to causal attention ---------===//
//
//   attention query, key, value mask (t ≤ s)  →  attention query, key, value
//                                                {causal}
//
// A mask that hides further keys is kept beside the flag. The flag still saves
// work, since kernels skip the keys that it hides.
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/composites/CausalMask.h"
#include "passes/2-prepare/composites/Composites.h"
#include "passes/2-prepare/match/RewriteFunctions.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Returns a copy of `op` with the flag `causal`, which hides each key t > s
/// from query s. Drops the mask if it provably changes no other score. Returns
/// null if the flag is set already, if the numbers of queries and keys differ,
/// or if the mask does not provably hide all keys t > s.
static Value causalAttention(AttentionOp op, PatternRewriter &rewriter) {
  if (op.getCausal() || !op.getMask() ||
      shapeOf(op.getQuery())[2] != shapeOf(op.getKey())[2])
    return {};
  const CausalMask mask = readCausalMask(op.getMask());
  if (!mask.hidesLater)
    return {};
  return AttentionOp::create(rewriter, op.getLoc(), op.getQuery(), op.getKey(),
                             op.getValue(),
                             mask.keepsOthers ? Value() : op.getMask(),
                             op.getScale(), /*causal=*/true, op.getSoftcap());
}

void pcc::prepare::addCausalPatterns(RewritePatternSet &patterns) {
  addRewrites(patterns, causalAttention);
}
