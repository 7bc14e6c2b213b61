//===- RuleBuilders.h - common parts of sharding rules --------------------===//

#ifndef PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H
#define PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns a rule in which each dim of operand 0 and result 0, which have the
/// same shape, is a Parallel factor. Dims whose indices are in `whole` are
/// Whole factors instead and must not be split. The caller adds the factors of
/// all other operands and results.
ShardingRule sameShapeRule(mlir::Operation *op,
                           llvm::ArrayRef<int64_t> whole = {});

/// Returns the rule of an op that cannot be split: every dim of every operand
/// and result is a separate Whole factor.
ShardingRule wholeRule(mlir::Operation *op);

/// Adds a factor of `kind` to `rule` for each dim of `shape` with more than one
/// element. Returns one list per dim of `shape`, which holds the id of the
/// dim's factor, or nothing for a dim of size 0 or 1.
ShardingRule::TensorFactors addDims(ShardingRule &rule,
                                    llvm::ArrayRef<int64_t> shape,
                                    FactorKind kind = FactorKind::Parallel);

/// Returns whether the ops that define `value` show that all its elements are
/// the float 0: `value` is a splat constant, possibly broadcast or reshaped. An
/// op that adds a partial sum to such zeros, or selects between the two, has a
/// partial sum as its result.
bool isZeros(mlir::Value value);

/// Appends `window` to the windows of `rule`, whose result 0 must be set.
/// Unless `window.optional`, also makes the factors of dim `window.dim` of
/// result 0 Parallel and contiguous, because the dim can be split only with the
/// window.
void addWindow(ShardingRule &rule, ShardingRule::Window window);

/// Returns the stretches (ranges of result indices that read at a constant
/// step) of a gather whose indices are a constant of rank 1. For example, the
/// indices 3, 4, 5, 0, 1 form two stretches. Returns an empty list if the
/// indices are not such a constant, if one is out of range, or if they form
/// more than 64 stretches.
llvm::SmallVector<ShardingRule::Window::Stretch, 2>
constantStretches(GatherOp gather);

/// Adds a window to `rule` for each spatial dim of the result of a convolution
/// or pool, so that the dim can be split. Each rank then reads the input
/// elements around its part of the result (halo exchange; GSPMD, Xu et al.
/// 2021). In `rule`, operand 0 and result 0 have the dims N, C, spatial….
///   extents  per spatial dim, the number of elements that one window spans
///   strides  per spatial dim, the elements from one window to the next
///   pads     the low padding of every spatial dim, then the high padding
void slideWindows(ShardingRule &rule, llvm::ArrayRef<int64_t> extents,
                  llvm::ArrayRef<int64_t> strides,
                  llvm::ArrayRef<int64_t> pads);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H
