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

/// Stores how `op` is split in attributes of the IR op `op.op`, which must not
/// be null. Afterwards, readShardedOp returns an equal ShardedOp. The
/// attributes are:
///
/// - the shardings of the results
/// - `dist.split`: the axes that split the factors (dims, or parts of dims),
///   and the axes along which operands are partial sums
/// - `dist.through`: for each axis along which operands are partial sums, the
///   index of the operand (throughOperand). Not stored if there is no such
///   axis.
/// - `dist.windows`: the windows that the op uses. A window is the range of an
///   operand's dim that the op reads. Not stored if the op uses no window.
/// - for a `graph.accumulate`: whether it sums over microbatches
void record(ShardedOp op);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_SHARDEDOPATTRS_H
