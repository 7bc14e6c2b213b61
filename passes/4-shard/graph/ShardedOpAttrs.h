//===- ShardedOpAttrs.h - ShardedOp to op attributes and back -------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H
#define PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H

#include "passes/4-shard/graph/ShardedOp.h"
#include <optional>

namespace pcc::shard {

/// Returns `op` with the axes that its attributes `dist.split`, `dist.through`
/// and `dist.windows` give its factors. Returns nothing if `op` has no
/// `dist.split`, or if the attributes do not fit the op's rule.
std::optional<ShardedOp> readShardedOp(mlir::Operation *op);

/// Writes the axes of `op` into its attributes: `dist.split`, `dist.windows`
/// and `dist.through` where they are not empty, and the sharding of each
/// result. A `graph.accumulate` also records whether it sums over microbatches.
/// Afterwards readShardedOp returns an equal ShardedOp. `op.op` must not be
/// null.
void record(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H
