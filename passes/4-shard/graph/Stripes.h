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

/// Where queries see only the keys before them, the last rank of a sequence in
/// contiguous parts has all the work. In stripes each rank has a part of the
/// beginning, of the middle and of the end, and what is hidden is the same on
/// all, so that it need not be computed:
///
///   16 tokens on 2 ranks      [16@cp]     0000000011111111
///   in 4 stripes              [4|4@cp]    0011001100110011
///
/// A stripe of queries meets the keys of its own stripe and of those before:
/// of n · n pairs of stripes n · (n + 1) / 2 are left.

/// Returns the number of stripes for `numTokens` tokens on `numParts` ranks: 4
/// or 2, the larger one that gives every rank an equal part of each stripe,
/// else 1.
int64_t stripesFor(int64_t numTokens, int64_t numParts);

/// Cuts the dims of queries and keys of `op` into stripes for `numParts` ranks,
/// in `rule`. This applies to a causal `graph.attention` with as many queries
/// as keys whose number of tokens allows stripes. Returns whether the dims were
/// cut. `op` may be null.
bool cutInStripes(mlir::Operation *op, RefinedRule &rule, int64_t numParts);

/// Returns the number of stripes that the queries of `op` are split in: the
/// stripe factor is whole and the factor of the tokens of each stripe is split.
/// Returns 1 if the queries are not in stripes.
int64_t stripesOf(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_STRIPES_H
