//===- ScatterGradients.h - gradients of gathers and slices ---------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Builds the gradient of `data`, the operand of a gather_elements along `dim`.
/// `gradient` is the gradient of the result, and `indices` are the indices of
/// the gather_elements; a negative index counts from the end of the dim. The
/// gradient of `data` is a tensor of zeros into which `gradient` is scattered.
/// `kind` says how: Add adds the gradients of an element that was read several
/// times. Set is for callers that know that no element was read twice.
///
/// If `indices` has size 1 along `dim`, and otherwise the shape of `data`, no
/// scatter is built. Each element of `data` instead gets `gradient` where its
/// position along `dim` equals the index, and 0 elsewhere.
mlir::Value gatherBack(GradientBuilder &b, ScatterKind kind,
                       mlir::Value gradient, mlir::Value indices,
                       mlir::Value data, int64_t dim);

/// Builds the gradient of a tensor of `type` that a slice reads: a tensor with
/// `gradient` at the elements that the slice read, and zeros at all others.
/// `starts` and `steps` hold the first index and the step of the slice per dim;
/// a step may be negative. The slice may extend beyond the tensor on both
/// sides, as a convolution reads padding. Gradients of elements outside the
/// tensor are dropped.
///   type 6, starts 1, steps 2, gradient [a b]:  [0 a 0 b 0 0]
mlir::Value sliceBack(GradientBuilder &b, mlir::Value gradient,
                      llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> steps,
                      mlir::RankedTensorType type);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
