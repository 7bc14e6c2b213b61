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

/// Returns the number of stripes into which a sequence of `numTokens` tokens is
/// cut. A stripe is a contiguous piece of the sequence. `numParts` ranks share
/// each stripe, and each of these ranks gets an equal part of the stripe. The
/// number of stripes is:
///
/// - 4 if `numTokens` is a multiple of 4 · `numParts`
/// - otherwise 2 if `numTokens` is a multiple of 2 · `numParts`
/// - otherwise 1, and the sequence is not cut
///
/// The number is also 1 if `numTokens` is 0. Example: 16 tokens for 2 ranks are
/// cut into 4 stripes of 4 tokens. The second line shows the rank of each
/// token:
///
///   stripe   0      1      2      3
///   rank     0011   0011   0011   0011
int64_t stripesFor(int64_t numTokens, int64_t numParts);

/// Cuts the token dims of a causal attention into stripes. A stripe is a
/// contiguous piece of the sequence. `rule` is the sharding rule of `op`, and
/// the function changes only `rule`. The rule lists the factors of each dim of
/// each tensor. A factor is a dim, or part of a dim. The function replaces one
/// factor of the queries by two: the number of stripes, and the number of
/// tokens in one stripe. It does the same with one factor of the keys.
///
/// The function stripesFor computes the number of stripes from the number of
/// tokens and from `numParts`. Each stripe can be split over `numParts` ranks.
/// Example: the factor has 16 tokens, and `numParts` is 2. stripesFor returns
/// 4, because 16 is a multiple of 4 · 2. The factor of 16 tokens becomes the
/// factors 4 and 4: 4 stripes of 4 tokens. The 2 ranks can split each stripe
/// into 2 and 2 tokens.
///
/// Returns whether the factors were replaced. The function changes nothing in
/// these cases:
///
/// - `op` is null, or is no causal `graph.attention`.
/// - The attention has different numbers of queries and keys.
/// - The token dim of the queries or of the keys does not have exactly one
///   factor.
/// - `stripesFor` returns 1, so that the sequence is not cut.
bool cutInStripes(mlir::Operation *op, RefinedRule &rule, int64_t numParts);

/// Returns the number of stripes into which the tokens of the attention `op`
/// are cut. A stripe is a contiguous piece of the sequence. The function
/// returns 1 unless these conditions hold:
///
/// - `op` is a causal `graph.attention` with as many queries as keys.
/// - The dim of tokens consists of two factors: the number of stripes, and the
///   number of tokens in one stripe.
/// - Mesh axes split the second factor, and no axis splits the first factor.
///   Each rank then has a part of every stripe.
///
/// Example: 16 tokens have the factors 4 and 4, and the axis cp of 2 ranks
/// splits the second factor. The function returns 4. Each rank has 2 tokens of
/// each of the 4 stripes.
int64_t stripesOf(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_STRIPES_H
