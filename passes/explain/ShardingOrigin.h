//===- ShardingOrigin.h - search for the decision behind a sharding -------===//

#ifndef PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
#define PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/explain/ValueExplanation.h"
#include "sharding/Sharding.h"

namespace pcc::explain {

/// Finds the reason why `axis` splits `value`, leaves it partial, or leaves it
/// whole. A split is followed through all values that the same ops split along
/// the axis without a reshard. The reason is the strongest that this search
/// meets, and the nearest among equals:
///
///   1. a pin
///   2. the batch or sequence of an input, for axes that split nothing else
///   3. an op whose alternatives were priced, or a reshard
///   4. a weight
///
/// `value` must be in a function that has passed 4-shard and no later phase.
Origin originOf(mlir::Value value, const dist::Axis &axis);

/// Returns the value from which reshards and transfers made `value`.
mlir::Value stripReshards(mlir::Value value);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
