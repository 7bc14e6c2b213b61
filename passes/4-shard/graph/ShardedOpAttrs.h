//===- ShardedOpAttrs.h - ShardedOp to op attributes and back -------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H
#define PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H

#include "passes/4-shard/graph/ShardedOp.h"
#include <optional>

namespace pcc::shard {

/// Reads how `op` is split from its attributes `dist.split`, `dist.through` and
/// `dist.windows`. Returns std::nullopt if `op` has no `dist.split`, or if the
/// attributes do not fit the sharding rule of the op.
std::optional<ShardedOp> readShardedOp(mlir::Operation *op);

/// Stores how `op` is split as attributes of `op.op`, which must not be null:
/// the sharding of each result, `dist.split`, `dist.through`, `dist.windows`,
/// and `sums` of a `graph.accumulate`.
void record(ShardedOp op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H
