//===- WindowSpec.h - ONNX's ways to describe a sliding window ------------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H
#define PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H

#include "passes/1-import/build/NodeImport.h"

namespace pcc::onnx_import {

/// The window of a convolution or pool, with the automatic forms of padding
/// written out. One entry per spatial dim; `pads` has the low ones, then the
/// high ones.
struct WindowSpec {
  llvm::SmallVector<int64_t> size, strides, dilations, pads;
  /// How much of the high pads only exists because of ceil_mode.
  llvm::SmallVector<int64_t> overhang;

  /// Elements from the first to the last of the window along spatial dim `i`.
  int64_t span(size_t i) const { return (size[i] - 1) * dilations[i] + 1; }
};

/// Reads kernel_shape (else `size`), strides, dilations, pads, auto_pad and
/// ceil_mode for an operand with the spatial dims `spatial`. Attributes of the
/// wrong length are mistakes of the node, as are dims of more than 2^31
/// elements; then all lists still have a sane length.
WindowSpec readWindow(NodeImport &node, llvm::ArrayRef<int64_t> spatial,
                      llvm::ArrayRef<int64_t> size);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H
