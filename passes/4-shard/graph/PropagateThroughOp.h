//===- PropagateThroughOp.h - sharding propagation through one op ---------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
#define PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H

#include "passes/4-shard/graph/ShardedOp.h"

namespace pcc::shard {

/// Returns `op` split as the shardings of its operands suggest (sharding
/// propagation as in GSPMD, Xu et al. 2021). `operands` are these shardings.
///
/// - An axis is used only if the op then needs no communication.
/// - If two operands split a dim differently, the first operand decides.
/// - Partial sums pass from operands to results only if `partialsPass` is true
///   and the op allows it, as a transpose does. A partial sum is a value that
///   ranks still have to add.
///
/// Examples, where 8@t is a dim of 8 elements that the axis t splits:
///
///   op                operands          result
///   add               [8@t, 6], [8, 6]  [8@t, 6]
///   sum along dim 1   [8@d, 6@t]        [8@d], a partial sum along t
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
