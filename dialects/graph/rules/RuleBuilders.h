//===- RuleBuilders.h - shapes of rules that several families share -------===//

#ifndef PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H
#define PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// One factor per result dim of more than one element; operands' dims matched
/// from the right, dims that broadcast have none.
ShardingRule broadcastRule(mlir::Operation *op);

/// One factor per dim of operand 0 and result 0, which have the same shape;
/// dims in `whole` must not be split.
ShardingRule sameShapeRule(mlir::Operation *op,
                           llvm::ArrayRef<int64_t> whole = {});

/// Nothing may be split.
ShardingRule wholeRule(mlir::Operation *op);

/// Factors for the dims of `shape`, all of `kind`; dims of size 1 get none.
ShardingRule::TensorFactors addDims(ShardingRule &rule,
                                    llvm::ArrayRef<int64_t> shape,
                                    FactorKind kind = FactorKind::Parallel);

/// Whether `value` is zeros by construction: sums pass what is added to them,
/// or chosen beside them.
bool isZeros(mlir::Value value);

/// Frees dim `window.dim` of result 0, one factor, which is read through
/// `window`, unless that is optional.
void addWindow(ShardingRule &rule, ShardingRule::Window window);

/// The stretches of elements that a gather with one dim of constant indices
/// reads; none if the indices are not constant or not a few stretches.
llvm::SmallVector<ShardingRule::Window::Stretch, 2>
constantStretches(GatherOp gather);

/// Frees the spatial dims of the result of a convolution or pool with one
/// input of N, C, spatial…: a part of rows needs the rows around it.
///   extents  per spatial dim the neighbouring elements under one window
void slideWindows(ShardingRule &rule, llvm::ArrayRef<int64_t> extents,
                  llvm::ArrayRef<int64_t> strides,
                  llvm::ArrayRef<int64_t> pads);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_RULES_RULEBUILDERS_H
