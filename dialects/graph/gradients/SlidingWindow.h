//===- SlidingWindow.h - window parameters of convolution gradients -------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_SLIDINGWINDOW_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_SLIDINGWINDOW_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Returns the sizes of the spatial dims: all dims after batch and channels.
inline llvm::ArrayRef<int64_t> spatial(mlir::Value value) {
  return tensorType(value).getShape().drop_front(2);
}

/// Geometry of a convolution's windows. Along each spatial dim, output o and
/// tap k read input element o · stride + k · dilation − low.
struct SlidingWindow {
  /// Stride, low padding and dilation per spatial dim, in elements.
  llvm::ArrayRef<int64_t> strides, low, dilations;
  /// Number of groups into which channels and filters are divided.
  int64_t group;

  /// Returns the number of input elements that `outputs` windows of `taps` taps
  /// span along spatial dim `dim`. The span begins at element -low.
  int64_t reach(size_t dim, int64_t outputs, int64_t taps) const {
    return (outputs - 1) * strides[dim] + (taps - 1) * dilations[dim] + 1;
  }
};

/// Builds the adjoint of a convolution, which is its gradient with respect to
/// its input: a conv_transpose of `gradient` and `filter`. `inputs` are the
/// spatial sizes of that input, and therefore of the result.
mlir::Value convolveBack(GradientBuilder &b, mlir::Value gradient,
                         mlir::Value filter, const SlidingWindow &sliding,
                         llvm::ArrayRef<int64_t> inputs);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SLIDINGWINDOW_H
