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
/// `numTokens` tokens is cut. Each of `numParts` ranks gets an equal part of
/// every stripe. The number is the largest possible of 4, 2 and 1 (not cut).
///
///   16 tokens on 2 ranks in 4 stripes: ranks 00 11 | 00 11 | 00 11 | 00 11
int64_t stripesFor(int64_t numTokens, int64_t numParts);

/// Cuts the queries and the keys of `op` into stripes (contiguous pieces of the
/// sequence) for `numParts` ranks, in its sharding rule `rule`. Returns whether
/// they were cut. Cuts nothing unless `op` is a causal `graph.attention` with
/// as many queries as keys. `op` may be null.
bool cutInStripes(mlir::Operation *op, RefinedRule &rule, int64_t numParts);

/// Returns the number of stripes (pieces of the sequence) of `op`, a causal
/// attention in which each rank has a part of every stripe. Returns 1 for any
/// other op.
int64_t stripesOf(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_STRIPES_H
