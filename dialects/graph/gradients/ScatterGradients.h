//===- ScatterGradients.h - gradients of gathers and slices ---------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradient of `data` after a gather_elements along `dim`: scatters
/// `gradient` into zeros of the type of `data`. `indices` are those of the
/// gather_elements, so each may be negative and then counts from the end.
/// `kind` is Add, or Set if no element of `data` was read twice.
///
/// If `indices` has size 1 along `dim` and the shape of `data` otherwise, no
/// scatter is needed. The gradient is then built element-wise: each index is
/// compared with all positions along `dim`.
mlir::Value gatherBack(GradientBuilder &b, ScatterKind kind,
                       mlir::Value gradient, mlir::Value indices,
                       mlir::Value data, int64_t dim);

/// Builds the gradient of a tensor of `type` after a slice: writes `gradient`
/// to the elements that the slice read and zeros to all others. `starts` and
/// `steps` have one entry per dim, and a step may be negative. The slice may
/// extend beyond the tensor on both sides, as a convolution reads padding;
/// gradients of elements out there are dropped.
///   type 6, starts 1, steps 2, gradient [a b]:  [0 a 0 b 0 0]
mlir::Value sliceBack(GradientBuilder &b, mlir::Value gradient,
                      llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> steps,
                      mlir::RankedTensorType type);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
