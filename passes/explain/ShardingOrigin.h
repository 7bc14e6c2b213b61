//===- ShardingOrigin.h - search for the decision behind a sharding -------===//

#ifndef PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H
#define PCC_PASSES_EXPLAIN_SHARDINGORIGIN_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/explain/ValueExplanation.h"
#include "sharding/Sharding.h"

namespace pcc::explain {

/// Finds the effect of the mesh axis `axis` on `value`, and the reason for this
/// effect. There are three effects:
///
///  - Split: the axis splits a dim of `value`. Each rank along the axis has a
///    part of this dim. The search for the reason is described below.
///  - Partial: each rank along the axis has a partial result, such as one term
///    of a sum. The reason is the op that computes `value`.
///  - Whole: all ranks along the axis have the same elements of `value`. The
///    reason is a reshard, which is an op that changes the sharding of a value.
///    The function searches backward from `value`, from the results of ops to
///    their operands. It takes the nearest reshard whose operand is split or
///    partial along the axis. If there is no such reshard, the reason is that
///    `value` depends on no value that the axis splits.
///
/// If the axis splits `value`, the function also examines other values that the
/// axis splits. The function finds these values by a breadth-first search that
/// begins at `value`. From each value, the search goes to the op that computes
/// the value and to all ops that read the value, except the return op of the
/// model. The search continues with those operands and results of these ops
/// that the axis splits. Example: a matmul computes y from x and w. The axis
/// splits x and y, but not w. If `value` is y, the function examines y and x.
/// The search does not cross a reshard if the axis splits different dims in the
/// operand and in the result of the reshard.
///
/// For each examined value, the function looks for these reasons:
///
///  1. The user has requested the sharding of the value.
///  2. The value is an input of the model. The axis is dp (data parallelism)
///     and splits the batch dim, or the axis is cp (context parallelism) and
///     splits the sequence dim.
///  3. The value is the result of a reshard, and the axis splits another dim of
///     the operand of the reshard, or no dim.
///  4. An op computes or reads the value. The compiler's sharding search has
///     compared several ways to compute this op along the axis, and has chosen
///     one of them.
///
/// Reason 1 is stronger than reason 2. Reason 2 is stronger than the reasons 3
/// and 4, which are equally strong. The function returns the strongest reason
/// that it has found. If several reasons are equally strong, the function
/// returns the reason of the value that the breadth-first search has reached
/// first. If the function has found no reason, it returns a default reason: the
/// split of `value` needs no communication, and each rank stores fewer elements
/// than without the split.
///
/// `value` must be in the IR directly after the compiler phase 4-shard. This
/// phase gives a sharding to each value and inserts the reshards. The next
/// phase erases the reshards. If `value` has no sharding, the result contains
/// only the name of the axis.
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
