//===- WindowSpec.h - sliding windows of convolutions and pools -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H
#define PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H

#include "passes/1-import/build/NodeImport.h"

namespace pcc::onnx_import {

/// The sliding window of a convolution or pool, with automatic padding resolved
/// to numbers. The lists have one entry per spatial dim. `pads` has two: the
/// low pads of all dims, then the high pads.
struct WindowSpec {
  /// Extent, step, spacing of elements, and padding, in elements.
  llvm::SmallVector<int64_t> size, strides, dilations, pads;
  /// The part of each high pad that ceil_mode adds, which an average does not
  /// count.
  llvm::SmallVector<int64_t> overhang;

  /// Returns the number of elements from the first to the last element of the
  /// dilated window along spatial dim `i`.
  int64_t span(size_t i) const { return (size[i] - 1) * dilations[i] + 1; }
};

/// Reads the window attributes of `node`: kernel_shape, strides, dilations,
/// pads, auto_pad and ceil_mode. `spatial` holds the spatial dims of the
/// operand. `size` is the window's size if the filter determines it, else
/// empty.
///
/// A list of the wrong length, an entry out of range or a dim of 2^31 or more
/// elements is an error of `node`. All lists of the result then still have the
/// right length.
WindowSpec readWindow(NodeImport &node, llvm::ArrayRef<int64_t> spatial,
                      llvm::ArrayRef<int64_t> size);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H
