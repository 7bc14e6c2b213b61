//===- ScatterGradients.h - gradients of gathers and slices ---------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradient of `data`, the data operand of a gather_elements along
/// `dim`. Scatters `gradient`, the gradient of the result, into zeros at
/// `indices`:
///
///   data [a b c], indices [2 0], gradient [g h]:  [h 0 g]
///
/// With `kind` Add, gradients of an element that was read several times are
/// added. With `kind` Set, no element may have been read twice.
mlir::Value gatherBack(GradientBuilder &b, ScatterKind kind,
                       mlir::Value gradient, mlir::Value indices,
                       mlir::Value data, int64_t dim);

/// Builds the gradient of the operand of a slice; `type` is the type of that
/// operand. `starts` and `steps` have one entry per dim. A step may be
/// negative.
///
///   operand [6], start 1, step 2, gradient [a b]:  [0 a 0 b 0 0]
///
/// Gradients at indices outside the operand are dropped.
mlir::Value sliceBack(GradientBuilder &b, mlir::Value gradient,
                      llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> steps,
                      mlir::RankedTensorType type);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
