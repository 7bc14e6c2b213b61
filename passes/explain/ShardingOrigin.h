//===- ShardingOrigin.h - search for the decision behind a sharding -------===//

#ifndef PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
#define PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/explain/ValueExplanation.h"
#include "sharding/Sharding.h"

namespace pcc::explain {

/// Finds the reason for the effect of the mesh axis `axis` on `value`. There
/// are three cases:
///  - The axis leaves `value` partial: the reason is the op that computes
///    `value`.
///  - The axis leaves `value` whole: the reason is the nearest reshard before
///    `value` whose operand the axis splits or leaves partial.
///  - The axis splits `value`: a search visits all values that are split
///    together with `value`, without a reshard in between. It finds the
///    strongest reason and, among equally strong ones, the nearest:
///
///   1. a pin: the user fixes the sharding
///   2. the role of the axis: dp splits the batch of an input, cp the sequence
///   3. an op for which the sharding search priced alternatives, or a reshard
///   4. a weight: the split needs no communication and saves memory
///
/// `value` must be in a function that has passed phase 4-shard and no later
/// phase.
Origin originOf(mlir::Value value, const dist::Axis &axis);

/// Returns the value from which reshards and transfers between stages make
/// `value`. For example, if x is resharded to y and y is transferred to z, the
/// result for z is x. Returns `value` if it is not the result of a reshard or
/// transfer.
mlir::Value stripReshards(mlir::Value value);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
