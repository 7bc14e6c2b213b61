//===- RuleBuilders.h - common parts of sharding rules --------------------===//

#ifndef PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H
#define PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns a sharding rule for an op whose operand 0 and result 0 have one
/// common shape. Each dim of that shape is a Parallel factor (a loop index that
/// ranks can split without communication). Dims whose indices are in `whole`
/// are Whole factors instead, which must not be split. The caller adds the
/// factors of all other operands and results.
ShardingRule sameShapeRule(mlir::Operation *op,
                           llvm::ArrayRef<int64_t> whole = {});

/// Returns the sharding rule of an op that must not be split: every dim of
/// every operand and result is a separate factor of kind Whole.
ShardingRule wholeRule(mlir::Operation *op);

/// Adds a factor of `kind` to `rule` for each dim of `shape` with more than one
/// element. Returns, for each dim of `shape`, a list with the id of its factor.
/// The list is empty for a dim of size 0 or 1.
ShardingRule::TensorFactors addDims(ShardingRule &rule,
                                    llvm::ArrayRef<int64_t> shape,
                                    FactorKind kind = FactorKind::Parallel);

/// Returns whether all elements of `value` are known to be the float 0: `value`
/// is a splat constant, possibly broadcast or reshaped. Sharding rules test
/// this because some ops on a partial sum and zeros yield a partial sum, such
/// as a select between the two.
bool isZeros(mlir::Value value);

/// Appends `window`, a windowed read (halo exchange), to the windows of `rule`.
/// The rule must already have the factors of result 0. If `window.optional` is
/// false, only the window lets ranks split dim `window.dim` of result 0. In
/// that case, the factors of that dim become Parallel and contiguous.
void addWindow(ShardingRule &rule, ShardingRule::Window window);

/// Returns the stretches (ranges of result indices that read at a constant
/// step) of a gather whose indices are a constant of rank 1. For example, the
/// indices 3, 4, 5, 0, 1 form two stretches. Returns an empty list if the
/// indices are not a constant of rank 1, if an index is out of range, or if the
/// indices form more than 64 stretches.
llvm::SmallVector<ShardingRule::Window::Stretch, 2>
constantStretches(GatherOp gather);

/// Adds a window to `rule` for each spatial dim of the result of a convolution
/// or pool, so that ranks can split the dim. Each rank then reads the input
/// elements that its shard of the result needs (halo exchange; GSPMD, Xu et al.
/// 2021). Operand 0 and result 0 of `rule` must have the dims N, C, spatial….
///   extents  per spatial dim, the input elements that one window spans
///   strides  per spatial dim, the elements from one window to the next
///   pads     the padding before each spatial dim, then the padding after each
void slideWindows(ShardingRule &rule, llvm::ArrayRef<int64_t> extents,
                  llvm::ArrayRef<int64_t> strides,
                  llvm::ArrayRef<int64_t> pads);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H
