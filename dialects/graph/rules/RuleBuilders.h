//===- RuleBuilders.h - common parts of sharding rules --------------------===//

#ifndef PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H
#define PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns a sharding rule for an op whose operand 0 and result 0 have one
/// shape. Each dim is a Parallel factor (split without communication). Dims
/// whose index is in `whole` are Whole factors (not to be split). The caller
/// adds operand 1 and all later operands.
ShardingRule sameShapeRule(mlir::Operation *op,
                           llvm::ArrayRef<int64_t> whole = {});

/// Returns the sharding rule of an op that must not be split: every dim of
/// every operand and result is a separate factor (loop index) of kind Whole.
ShardingRule wholeRule(mlir::Operation *op);

/// Adds a factor (loop index of the op) of `kind` to `rule` for each dim of
/// `shape` that is larger than 1. Returns the factor ids of each dim.
ShardingRule::TensorFactors addDims(ShardingRule &rule,
                                    llvm::ArrayRef<int64_t> shape,
                                    FactorKind kind = FactorKind::Parallel);

/// Returns whether all elements of `value` are known to be the float 0: a splat
/// constant, possibly broadcast or reshaped.
bool isZeros(mlir::Value value);

/// Appends `window`, a windowed read (halo exchange) along dim `window.dim` of
/// result 0, to `rule`. The rule must already have the factors (loop indices)
/// of this dim. Unless `window.optional` is true, makes these factors Parallel,
/// and requires that each rank has a contiguous range of their indices.
void addWindow(ShardingRule &rule, ShardingRule::Window window);

/// Returns the stretches of a gather whose indices are a constant of rank 1. A
/// stretch is a run of indices with a constant step: the indices 3, 4, 5, 0, 1
/// have the stretches (3, 4, 5) and (0, 1). Returns an empty list if the
/// indices are not such a constant, are out of range, or have over 64
/// stretches.
llvm::SmallVector<ShardingRule::Window::Stretch, 2>
constantStretches(GatherOp gather);

/// Adds a windowed read (halo exchange; GSPMD, Xu et al. 2021) for each spatial
/// dim of a convolution or pool, with dims N, C, spatial. `extents` are the
/// elements that one window spans. `pads` lists the padding before each dim,
/// then the padding after each dim.
void slideWindows(ShardingRule &rule, llvm::ArrayRef<int64_t> extents,
                  llvm::ArrayRef<int64_t> strides,
                  llvm::ArrayRef<int64_t> pads);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H
