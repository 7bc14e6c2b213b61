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

/// Builds the gradient of the operand of a slice. `gradient` is the gradient of
/// the result, and `type` is the type of the operand. `starts` and `steps` have
/// one entry per dim. A step may be negative. Operand elements that the slice
/// does not read have the gradient 0. If an index is outside the operand, its
/// gradient is dropped. Examples:
///
///   start 1, step 2, operand of 6 elements:   [p q] becomes [0 p 0 q 0 0]
///   start -1, step 2, operand of 4 elements:  [p q r] becomes [0 q 0 r]
mlir::Value sliceBack(GradientBuilder &b, mlir::Value gradient,
                      llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> steps,
                      mlir::RankedTensorType type);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
