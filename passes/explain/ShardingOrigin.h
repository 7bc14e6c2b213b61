//===- ShardingOrigin.h - search for the decision behind a sharding -------===//

#ifndef PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
#define PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/explain/ValueExplanation.h"
#include "sharding/Sharding.h"

namespace pcc::explain {

/// Finds the reason for the effect of the mesh axis `axis` on `value`. A
/// reshard is an op that changes the sharding of a value. There are three
/// effects:
///
///  - The axis splits a dim of `value`. The function follows ops from `value`
///    to other values that the axis splits. It examines each value that it
///    reaches and returns the strongest reason that it finds (see the list
///    below).
///  - `value` is partial: each rank along the axis has a partial result, such
///    as one term of a sum. The reason is the op that computes `value`.
///  - `value` is whole: all ranks along the axis have the same elements. The
///    reason is a reshard that removed the axis from the sharding. The function
///    searches for it backward from `value` and takes the nearest one. If there
///    is no such reshard, the reason is that `value` depends on no value that
///    the axis splits.
///
/// Reasons for a split, the strongest first:
///
///   1. The user has fixed the sharding of the value (a pin).
///   2. The axis dp splits the batch dim of a model input, or the axis cp
///      splits the sequence dim.
///   3. The sharding search compared the costs of several ways to compute an op
///      and chose one of them, or a reshard made the split.
///   4. The value is a weight. The split needs no communication and saves
///      memory.
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
