//===- SlidingWindow.h - windows that slide over spatial dims -------------===//

#ifndef PCC_DIALECTS_GRAPH_GRADIENTS_SLIDINGWINDOW_H
#define PCC_DIALECTS_GRAPH_GRADIENTS_SLIDINGWINDOW_H

#include "dialects/graph/gradients/GradientBuilder.h"

namespace pcc::graph {

/// The dims after batch and channels.
inline llvm::ArrayRef<int64_t> spatial(mlir::Value value) {
  return tensorType(value).getShape().drop_front(2);
}

/// How windows slide: output o and tap k of a dim read the input at
/// o · stride + k · dilation − low.
struct SlidingWindow {
  llvm::ArrayRef<int64_t> strides, low, dilations;
  int64_t group;

  /// The elements of the input, from -low on, that outputs and taps reach.
  int64_t reach(size_t dim, int64_t outputs, int64_t taps) const {
    return (outputs - 1) * strides[dim] + (taps - 1) * dilations[dim] + 1;
  }
};

/// The adjoint of a convolution of an input with these spatial dims.
mlir::Value convolveBack(GradientBuilder &b, mlir::Value gradient,
                         mlir::Value filter, const SlidingWindow &sliding,
                         llvm::ArrayRef<int64_t> inputs);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_GRADIENTS_SLIDINGWINDOW_H
