//===- RuleBuilders.h - common parts of sharding rules --------------------===//

#ifndef PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H
#define PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns the rule of an op that broadcasts its operands, as element-wise ops
/// do. Each result dim of more than one element is a Parallel factor. Operand
/// dims are matched with result dims from the right; those of size 1 have no
/// factor. No partial sum passes.
ShardingRule broadcastRule(mlir::Operation *op);

/// Returns the rule of an op whose operand 0 and result 0 have the same shape,
/// with a Parallel factor per dim. Dims in `whole` must not be split. Further
/// operands and results are for the caller to add.
ShardingRule sameShapeRule(mlir::Operation *op,
                           llvm::ArrayRef<int64_t> whole = {});

/// Returns the rule of an op that cannot be split: every dim is a Whole factor
/// of its own.
ShardingRule wholeRule(mlir::Operation *op);

/// Adds a factor of the given kind to `rule` for each dim of `shape`, except
/// for dims of size 0 or 1, and returns the factors of the dims.
ShardingRule::TensorFactors addDims(ShardingRule &rule,
                                    llvm::ArrayRef<int64_t> shape,
                                    FactorKind kind = FactorKind::Parallel);

/// Returns whether `value` is a float tensor of zeros by construction: a splat
/// constant, possibly broadcast or reshaped. Partial sums pass an op that adds
/// to zeros or selects between a sum and zeros.
bool isZeros(mlir::Value value);

/// Adds `window` to `rule`, which has result 0. Unless the window is optional,
/// the factors of dim `window.dim` of result 0 become Parallel and contiguous,
/// since the window is what lets them be split.
void addWindow(ShardingRule &rule, ShardingRule::Window window);

/// Returns the stretches that a gather reads if its indices are a constant of
/// one dim, such as those of a slice or a roll. Empty if the indices are not
/// constant, lie out of range, or form more than 64 stretches.
llvm::SmallVector<ShardingRule::Window::Stretch, 2>
constantStretches(GatherOp gather);

/// Lets the spatial dims of the result of a convolution or pool be split: each
/// part reads the rows around it through a window (halo exchange; GSPMD, Xu et
/// al. 2021). `rule` has the operand and result dims N, C, spatial….
///   extents  per spatial dim, the number of elements that one window spans
///   strides  per spatial dim, the elements from one window to the next
///   pads     the low padding of every spatial dim, then the high padding
void slideWindows(ShardingRule &rule, llvm::ArrayRef<int64_t> extents,
                  llvm::ArrayRef<int64_t> strides,
                  llvm::ArrayRef<int64_t> pads);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H
