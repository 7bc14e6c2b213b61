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

/// Stores how `op` is split, as attributes of the IR op `op.op`. `op.op` must
/// not be null. The function readShardedOp reads the attributes. They are:
///
/// - the sharding of each result
/// - `dist.split`: the axes that split the factors (dims, or parts of dims),
///   and the axes along which operands are partial sums. A partial sum is a
///   value of which each rank has one addend.
/// - `dist.through`: one number for each axis along which operands are partial
///   sums. The number is the index of the operand that is a partial sum. It is
///   -1 if several operands are partial sums. The attribute is not stored if
///   there is no such axis.
/// - `dist.windows`: the windows that the op uses. A window says which elements
///   of an operand's dim the op needs for each part of its result, as in a
///   slice. If the op uses a window, each rank receives only the elements that
///   the rank needs. The attribute is not stored if the op uses no window.
/// - `sums`, only for a `graph.accumulate`: true if the op adds up the partial
///   sums of all microbatches
void record(ShardedOp op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H
