//===- ShardingOrigin.h - search for the decision behind a sharding -------===//

#ifndef PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
#define PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/explain/ValueExplanation.h"
#include "sharding/Sharding.h"

namespace pcc::explain {

/// Finds the effect of the mesh axis `axis` on `value`, and the reason. `value`
/// must be in the IR directly after phase 4-shard. Without a sharding of
/// `value`, the result contains only the name of the axis. The effects are:
///  - Split: the axis splits a dim. OriginSearch finds the strongest reason at
///    `value` or at split values that ops connect to `value`.
///  - Partial: each rank has a partial result, such as one term of a sum. The
///    reason is the op that computes `value`.
///  - Whole: all ranks along the axis have equal elements. The reason is the
///    nearest earlier reshard of a split or partial value, if there is one.
Origin originOf(mlir::Value value, const dist::Axis &axis);

/// Returns the value from which `value` was copied. If `value` is no copy, the
/// function returns `value` itself. Two kinds of ops make copies:
///
///  - A reshard copies a value and gives another sharding to the copy.
///  - A transfer sends a value to another pipeline stage. The result of the
///    transfer is the copy on that stage.
///
/// Example: a matmul computes x, a reshard copies x to y, and a transfer copies
/// y to z. The function returns x for x, for y and for z.
mlir::Value stripReshards(mlir::Value value);

} // namespace pcc::explain

#endif // PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
