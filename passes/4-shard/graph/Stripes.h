//===- Stripes.h - striped attention: equal causal work on every rank -----===//
//
// Striped attention (Brandon et al. 2023), with contiguous stripes in place of
// single tokens. Under a causal mask queries see only the keys before them, so
// the last rank of a sequence in contiguous parts has most of the work. In
// stripes, each rank has a part of the beginning, of the middle and of the end
// of the sequence:
//
//   16 tokens on 2 ranks      [16@cp]     0000000011111111
//   in 4 stripes              [4|4@cp]    0011001100110011
//
// A stripe of queries meets the keys of its own stripe and of the stripes
// before it. For n stripes, n · (n + 1) / 2 of the n · n pairs of stripes
// remain. The pairs that remain are the same on all ranks, so the others are
// never computed.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_STRIPES_H
#define PCC_PASSES_4_SHARD_GRAPH_STRIPES_H

#include "passes/4-shard/graph/ShardedOp.h"

namespace pcc::shard {

/// Returns the number of stripes (contiguous pieces) into which a sequence of
/// `numTokens` tokens is cut, so that `numParts` ranks can share each stripe
/// evenly. Returns 4 if `numTokens` is a multiple of 4 · `numParts`, otherwise
/// 2 if it is a multiple of 2 · `numParts`, and otherwise 1. Returns 1 for 0
/// tokens.
int64_t stripesFor(int64_t numTokens, int64_t numParts);

/// Cuts the tokens of a causal attention into stripes (contiguous pieces). In
/// `rule`, the sharding rule of `op`, the token factor of the queries becomes
/// two factors: the number of stripes (stripesFor), and the tokens of one
/// stripe. The factor of the keys is cut in the same way. For 2 ranks
/// (`numParts`), 16 tokens become the factors 4 and 4. Returns whether `rule`
/// was changed. Changes nothing if `op` is null or not a causal
/// `graph.attention`, if the numbers of queries and keys differ, if a token dim
/// has several factors, or if stripesFor returns 1.
bool cutInStripes(mlir::Operation *op, RefinedRule &rule, int64_t numParts);

/// Returns the number of stripes (contiguous pieces) into which the tokens of
/// the attention `op` are cut. Returns 1 unless three conditions hold. The op
/// is a causal `graph.attention` with as many queries as keys. The token dim
/// has two factors: stripes, and tokens of one stripe. Mesh axes split the
/// second factor and not the first, so that each rank has a part of each
/// stripe.
int64_t stripesOf(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_STRIPES_H
