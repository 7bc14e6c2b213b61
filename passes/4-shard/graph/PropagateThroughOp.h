//===- PropagateThroughOp.h - sharding propagation through one op ---------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
#define PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H

#include "passes/4-shard/graph/ShardedOp.h"

namespace pcc::shard {

/// Returns `op` split as the shardings of its operands, `operands`, suggest
/// (sharding propagation as in GSPMD, Xu et al. 2021):
///
/// - An axis of an operand is used only if the op needs no communication then.
/// - If two operands split a factor (dim of the op, or part of one)
///   differently, the first operand decides.
/// - Partial sums of operands pass through the op only if `partialsPass` is
///   true and the rule of the op allows it.
///
///   add [8@t, -], [8, -]:           [8@t, -]
///   reduce sum [8@d, 6@t] over 1:   [8@d] partial sum(t)
ShardedOp propagateFromOperands(mlir::Operation *op,
                                llvm::ArrayRef<dist::Sharding> operands,
                                bool partialsPass = false);

/// Returns `op` split so that its first result has the sharding `result`. Meant
/// for ops without operands and for ops that resize a dim.
ShardedOp propagateFromResult(mlir::Operation *op,
                              const dist::Sharding &result);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
