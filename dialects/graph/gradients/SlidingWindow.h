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

/// Windows of a convolution. Along each spatial dim, output o multiplies filter
/// element (tap) k by input element o · stride + k · dilation − low.
struct SlidingWindow {
  /// Stride, low padding and dilation per spatial dim, in elements.
  llvm::ArrayRef<int64_t> strides, low, dilations;
  /// Number of groups of a grouped convolution: the filters of a group read
  /// only the channels of that group.
  int64_t group;

  /// Returns the number of input elements along spatial dim `dim` from the
  /// first that output 0 reads to the last that output `outputs - 1` reads.
  /// `taps` is the size of the filter along the dim. The first of these
  /// elements has index -low.
  int64_t reach(size_t dim, int64_t outputs, int64_t taps) const {
    return (outputs - 1) * strides[dim] + (taps - 1) * dilations[dim] + 1;
  }
};

/// Builds the gradient of a convolution with respect to its input: a
/// conv_transpose of `gradient`, the gradient of the convolution's result, with
/// `filter`. `inputs` are the spatial sizes of the convolution's input, which
/// are those of the returned gradient.
mlir::Value convolveBack(GradientBuilder &b, mlir::Value gradient,
                         mlir::Value filter, const SlidingWindow &sliding,
                         llvm::ArrayRef<int64_t> inputs);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SLIDINGWINDOW_H
