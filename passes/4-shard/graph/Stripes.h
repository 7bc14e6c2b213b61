//===- Stripes.h - causal attention with as much to do on every rank ------===//

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

/// In how many stripes `numParts` ranks divide `numTokens`; 1 if that would
/// leave some rank less than others.
int64_t stripesFor(int64_t numTokens, int64_t numParts);

/// Cuts the dims of queries and keys of a causal attention over as many keys as
/// queries in stripes for `numParts` ranks. False if `op` is none, or is not
/// cut.
bool cutInStripes(mlir::Operation *op, RefinedRule &rule, int64_t numParts);

/// In how many stripes the queries of `op` lie, of which all ranks have a part
/// each; 1 if they do not.
int64_t stripesOf(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_STRIPES_H
