//===- ShardingOrigin.h - search for the decision behind a sharding -------===//

#ifndef PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
#define PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/explain/ValueExplanation.h"
#include "sharding/Sharding.h"

namespace pcc::explain {

/// Finds the reason why the mesh axis `axis` splits `value`, leaves it partial,
/// or leaves it whole. The search visits all values that are split together
/// with `value`, without a reshard in between. It returns the strongest reason
/// among them and, of equally strong ones, the nearest:
///
///   1. a pin: the user fixes the sharding
///   2. the batch or sequence of an input, for axes that split nothing else
///   3. an op whose alternatives were priced, or a reshard
///   4. a weight
///
/// `value` must be in a function that has passed phase 4-shard and no later
/// phase.
Origin originOf(mlir::Value value, const dist::Axis &axis);

/// Returns the value before all reshards and transfers from which `value`
/// results; `value` itself if there are none.
mlir::Value stripReshards(mlir::Value value);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
