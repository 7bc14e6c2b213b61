//===- ScatterGradients.h - gradients of gathers and slices ---------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradient of `data`, the data operand of a gather_elements along
/// `dim`. Scatters `gradient`, the gradient of the result, into zeros at
/// `indices`. If an element of `data` may have been read twice, `kind` must be
/// Add, which sums the gradients.
mlir::Value gatherBack(GradientBuilder &b, ScatterKind kind,
                       mlir::Value gradient, mlir::Value indices,
                       mlir::Value data, int64_t dim);

/// Builds the gradient of the operand of a slice: `gradient` at the indices
/// that the slice reads, and 0 elsewhere. `type` is the type of the operand.
/// `starts` and `steps` have one entry per dim; a step may be negative.
/// Gradients at indices outside the operand are dropped.
mlir::Value sliceBack(GradientBuilder &b, mlir::Value gradient,
                      llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> steps,
                      mlir::RankedTensorType type);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
