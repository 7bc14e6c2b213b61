//===- PropagateThroughOp.h - sharding propagation through one op ---------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
#define PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H

#include "passes/4-shard/graph/ShardedOp.h"

namespace pcc::shard {

/// Returns `op` split as the shardings `operands` of its operands suggest
/// (sharding propagation as in GSPMD, Xu et al. 2021). An axis is used only if
/// the op then needs no communication. If two operands split a dim differently,
/// the first operand decides. If `partialsPass` is true, partial sums (values
/// that ranks still have to add) pass to the results where the op allows it, as
/// a transpose does. For example, a sum of [8@d, 6@t] along dim 1 gives [8@d],
/// a partial sum along t. Here 8@d is a dim of size 8 that the axis d splits.
ShardedOp propagateFromOperands(mlir::Operation *op,
                                llvm::ArrayRef<dist::Sharding> operands,
                                bool partialsPass = false);

/// Returns `op` split so that the first result of `op` has the sharding
/// `result`. The function propagateFromOperands finds the sharding of the
/// result from the shardings of the operands. This is not possible for two
/// kinds of ops, and the caller then passes the sharding `result`:
///
/// - The op has no operands, such as an iota.
/// - The op changes the size of a dim. For example, a slice reads 8 elements of
///   a dim of 10 elements. If `result` is [8@t], the mesh axis t splits these 8
///   elements.
ShardedOp propagateFromResult(mlir::Operation *op,
                              const dist::Sharding &result);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
