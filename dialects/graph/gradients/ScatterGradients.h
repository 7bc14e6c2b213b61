//===- ScatterGradients.h - gradients of gathers and slices ---------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradient of `data`, the data operand of a gather_elements along
/// `dim`, by scattering `gradient` into a tensor of zeros. `gradient` is the
/// gradient of the gather's result. `indices` is the index operand of the
/// gather. A negative index counts from the end of the dim. If `kind` is Add,
/// the gradients of an element that was read several times are added. If `kind`
/// is Set, no element may have been read twice.
///
/// If `indices` has size 1 along `dim`, and the shape of `data` in all other
/// dims, no scatter is built. Each element of `data` then gets `gradient` if
/// its index along `dim` equals the entry of `indices`, and 0 otherwise.
mlir::Value gatherBack(GradientBuilder &b, ScatterKind kind,
                       mlir::Value gradient, mlir::Value indices,
                       mlir::Value data, int64_t dim);

/// Builds the gradient of the operand of a slice; `type` is the type of that
/// operand. The result has the elements of `gradient` where the slice read the
/// operand, and zeros elsewhere. `starts` and `steps` hold, per dim, the first
/// index that the slice reads and the step to the next index. A step may be
/// negative. The slice may extend beyond the operand on both sides, like a
/// convolution with padding. Gradients of elements outside the operand are
/// dropped.
///   operand [6], starts 1, steps 2, gradient [a b]:  [0 a 0 b 0 0]
mlir::Value sliceBack(GradientBuilder &b, mlir::Value gradient,
                      llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> steps,
                      mlir::RankedTensorType type);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
