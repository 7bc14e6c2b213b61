//===- ShardingOrigin.h - search for the decision behind a sharding -------===//

#ifndef PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
#define PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/explain/ValueExplanation.h"
#include "sharding/Sharding.h"

namespace pcc::explain {

/// Finds the reason why the mesh axis `axis` splits `value`, makes it partial
/// or keeps it whole. The reason depends on this effect:
///  - partial: the op that computes `value`;
///  - whole: the nearest earlier reshard (change of sharding) whose operand the
///    axis splits or leaves partial;
///  - split: the strongest reason in the list below. Candidates are the reasons
///    of all values that are split together with `value`.
///
/// Reasons for a split, the strongest first:
///
///   1. a pin: the user fixes the sharding
///   2. the role of the axis: dp splits the batch of an input, cp the sequence
///   3. an op for which the sharding search priced alternatives, or a reshard
///   4. a weight: the split needs no communication and saves memory
///
/// `value` must be in a function that has passed phase 4-shard and no later
/// phase.
Origin originOf(mlir::Value value, const dist::Axis &axis);

/// Returns the value that `value` was before all reshards (changes of sharding)
/// and transfers (to another stage). Example: x is resharded to y, and y is
/// sent to another stage as z. The result for z is x.
mlir::Value stripReshards(mlir::Value value);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
