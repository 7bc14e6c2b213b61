//===- PropagateThroughOp.h - sharding propagation through one op ---------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
#define PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H

#include "passes/4-shard/graph/ShardedOp.h"

namespace pcc::shard {

/// Returns `op` with the axes of its operands, whose shardings are `operands`
/// (sharding propagation as in GSPMD, Xu et al. 2021).
/// An axis is taken if the op can use it without communication among its parts.
/// Where operands disagree about a factor, the first operand wins. If
/// `partialsPass`, partial sums of operands pass through the op where its rule
/// allows that; otherwise the op needs them reduced.
///
///   add [8@t, -], [8, -]:           [8@t, -]
///   reduce sum [8@d, 6@t] over 1:   [8@d] partial sum(t)
ShardedOp propagateFromOperands(mlir::Operation *op,
                                llvm::ArrayRef<dist::Sharding> operands,
                                bool partialsPass = false);

/// Returns `op`, whose result has sharding `result`, with the axes of that
/// sharding. Meant for ops without operands and for ops that resize a dim.
ShardedOp propagateFromResult(mlir::Operation *op,
                              const dist::Sharding &result);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
