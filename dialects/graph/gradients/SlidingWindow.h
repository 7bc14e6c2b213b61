//===- SlidingWindow.h - window parameters of convolution gradients -------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_SLIDINGWINDOW_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_SLIDINGWINDOW_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// Returns the sizes of the spatial dims of `value`, a tensor [batch, channels,
/// spatial…].
inline llvm::ArrayRef<int64_t> spatial(mlir::Value value) {
  return tensorType(value).getShape().drop_front(2);
}

/// Strides, padding, dilations and groups of a convolution. Along each spatial
/// dim, result element o multiplies filter element k by the input element with
/// the index o · stride + k · dilation − low.
struct SlidingWindow {
  /// Stride, padding before the input, and dilation: one entry per spatial dim,
  /// in elements.
  llvm::ArrayRef<int64_t> strides, low, dilations;
  /// Number of groups of a grouped convolution: the filters of a group read
  /// only the channels of that group.
  int64_t group;

  /// Returns how many consecutive input elements the first `outputs` windows
  /// cover along spatial dim `dim`, padding included. `taps` is the size of the
  /// filter. For stride 2 and 3 taps, 4 windows cover 9 elements.
  int64_t reach(size_t dim, int64_t outputs, int64_t taps) const {
    return (outputs - 1) * strides[dim] + (taps - 1) * dilations[dim] + 1;
  }
};

/// Builds the gradient of the input of a convolution: a conv_transpose of
/// `gradient`, the gradient of the result. `inputs` are the sizes of the
/// spatial dims of the input.
mlir::Value convolveBack(GradientBuilder &b, mlir::Value gradient,
                         mlir::Value filter, const SlidingWindow &sliding,
                         llvm::ArrayRef<int64_t> inputs);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SLIDINGWINDOW_H
