//===- ShardedOpAttrs.h - a sharded op as its attributes record it --------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H
#define PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H

#include "passes/4-shard/graph/ShardedOp.h"
#include <optional>

namespace pcc::shard {

/// The op with the axes that `dist.split` gives its factors; nothing if it has
/// no rule or no such attribute, or if the attribute does not fit the rule.
std::optional<ShardedOp> readShardedOp(mlir::Operation *op);

/// Writes how the op lies into its attributes: `dist.split`, `dist.through` and
/// the sharding of each result.
void record(const ShardedOp &op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H
