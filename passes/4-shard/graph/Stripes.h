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

/// Returns the number of stripes (contiguous ranges of tokens) for a sequence
/// of `numTokens` tokens. The result is 4 if `numParts` ranks can share each of
/// 4 stripes evenly. Otherwise it is 2 if they can share each of 2 stripes
/// evenly, else 1.
int64_t stripesFor(int64_t numTokens, int64_t numParts);

/// Cuts the token dims of a causal attention in `rule` into stripes (contiguous
/// ranges of tokens). Example for 2 ranks (`numParts`): 16 tokens become 4
/// stripes of 4 tokens. Returns false, and changes nothing, if `op` is null or
/// its tokens cannot be cut.
bool cutInStripes(mlir::Operation *op, RefinedRule &rule, int64_t numParts);

/// Returns the number of stripes (contiguous ranges) into which the attention
/// `op` cuts its tokens, if mesh axes split each stripe. Otherwise returns 1.
int64_t stripesOf(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_STRIPES_H
