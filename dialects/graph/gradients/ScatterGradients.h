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
/// one entry per dim. Along a dim, the slice reads the indices start, start +
/// step, start + 2 · step and so on. A step may be negative. Operand elements
/// that the slice does not read have the gradient 0. In this example, the
/// operand has 6 elements:
///
///   start 1, step 2, gradient [p q]:  [0 p 0 q 0 0]
///
/// The function is also used for the gradient of a 1x1 convolution, which may
/// read padding at indices outside the operand, such as -1. The gradient of
/// padding is dropped. In this example, the operand has 4 elements, and the
/// indices are -1, 1 and 3. The gradient p belongs to index -1 and is dropped:
///
///   start -1, step 2, gradient [p q r]:  [0 q 0 r]
mlir::Value sliceBack(GradientBuilder &b, mlir::Value gradient,
                      llvm::ArrayRef<int64_t> starts,
                      llvm::ArrayRef<int64_t> steps,
                      mlir::RankedTensorType type);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SCATTERGRADIENTS_H
