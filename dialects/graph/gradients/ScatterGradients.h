//===- ScatterGradients.h - gradients of gathers and slices ---------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradient of `data`, the data operand of a gather_elements along
/// `dim`. `gradient` is the gradient of the gather's result, and `indices` is
/// its index operand. Scatters `gradient` into a tensor of zeros at `indices`:
///   data [a b c], indices [2 0], gradient [g h]:  [h 0 g]
/// A negative index counts from the end of the dim.
///
/// If `kind` is Add, the gradients of an element that was read several times
/// are added. If `kind` is Set, no element may have been read twice.
///
/// No scatter is built if `indices` has size 1 along `dim` and the shape of
/// `data` in all other dims. Element-wise ops then compare the positions along
/// `dim` with `indices`, and select `gradient` or 0.
mlir::Value gatherBack(GradientBuilder &b, ScatterKind kind,
                       mlir::Value gradient, mlir::Value indices,
                       mlir::Value data, int64_t dim);

/// Builds the gradient of the operand of a slice; `type` is the type of that
/// operand. Element i of `gradient` along a dim goes to the result index
///   start + i · step
/// All other elements of the result are 0:
///   operand [6], start 1, step 2, gradient [a b]:  [0 a 0 b 0 0]
/// `starts` and `steps` have one entry per dim. A step may be negative. An
/// index may lie outside the operand, as in the padding of a convolution.
/// Gradients at such indices are dropped.
mlir::Value sliceBack(GradientBuilder &b, mlir::Value gradient,
                      llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> steps,
                      mlir::RankedTensorType type);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
