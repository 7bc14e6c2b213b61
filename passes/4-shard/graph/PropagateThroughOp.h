//===- PropagateThroughOp.h - shardings that follow from those of the operands ===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
#define PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H

#include "passes/4-shard/graph/ShardedOp.h"

namespace pcc::shard {

/// `op` with the axes that its operands, which lie as `operands` say, bring
/// along and that it can take without inner communication; where operands
/// disagree the first one counts. Partial sums are wanted reduced, unless
/// `partialsPass`.
///
///   add [8@t, -], [8, -]:           [8@t, -]
///   reduce sum [8@d, 6@t] over 1:   [8@d] partial sum(t)
ShardedOp propagateFromOperands(mlir::Operation *op,
                                llvm::ArrayRef<dist::Sharding> operands,
                                bool partialsPass = false);

/// `op`, which has no operands, with the axes of its result's sharding.
ShardedOp propagateFromResult(mlir::Operation *op,
                              const dist::Sharding &result);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_PROPAGATETHROUGHOP_H
