//===- WindowSpec.h - sliding windows of convolutions and pools -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H
#define PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H

#include "passes/1-import/build/NodeImport.h"

namespace pcc::onnx_import {

/// The sliding window of a convolution or pool. Each list has one entry per
/// spatial dim. Only `pads` has two entries per dim: first the low pads of all
/// dims, then the high pads.
struct WindowSpec {
  /// Window extent, step between windows, spacing of a window's elements, and
  /// padding of the input. All are in elements.
  llvm::SmallVector<int64_t> size, strides, dilations, pads;
  /// Number of padding elements that ceil_mode adds at the high end of each
  /// spatial dim. `pads` includes them. Averages never count these elements.
  llvm::SmallVector<int64_t> overhang;

  /// Returns how many input elements one window spans along spatial dim `i`,
  /// gaps between dilated elements included.
  int64_t span(size_t i) const { return (size[i] - 1) * dilations[i] + 1; }

  /// Returns how many elements of the window with the number `output` are not
  /// overhang (padding that ceil_mode adds). `input` is the size of spatial dim
  /// `i`. For an input of 3 elements, a window of 2 and a stride of 2, window 0
  /// has 2 such elements, and window 1 has 1.
  int64_t countedTaps(size_t i, int64_t input, int64_t output) const;
};

/// Reads the window attributes of `node`, such as kernel_shape, strides and
/// pads. `spatial` holds the sizes of the operand's spatial dims. `size` is the
/// shape of a convolution's filter along these dims; empty for a pool.
///
/// Records an error in `node` if an attribute is invalid. Even then, each list
/// of the result has entries for all spatial dims.
WindowSpec readWindow(NodeImport &node, llvm::ArrayRef<int64_t> spatial,
                      llvm::ArrayRef<int64_t> size);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H
