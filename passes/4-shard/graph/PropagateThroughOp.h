//===- PropagateThroughOp.h - sharding propagation through one op ---------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
#define PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H

#include "passes/4-shard/graph/ShardedOp.h"

namespace pcc::shard {

/// Returns `op` split as the shardings `operands` of its operands suggest
/// (sharding propagation as in GSPMD, Xu et al. 2021). Uses an axis only if
/// `op` then needs no communication. If two operands suggest different splits,
/// the first operand decides. Partial sums of operands do not pass.
ShardedOp propagateFromOperands(mlir::Operation *op,
                                llvm::ArrayRef<dist::Sharding> operands);

/// Returns `op` split as the sharding `result` of its first result suggests.
/// Needed where operands do not determine the split: an iota has no operands,
/// and a slice changes the size of a dim.
ShardedOp propagateFromResult(mlir::Operation *op,
                              const dist::Sharding &result);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
