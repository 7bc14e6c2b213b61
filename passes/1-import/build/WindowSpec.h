//===- WindowSpec.h - sliding windows of convolutions and pools -----------===//

#ifndef PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H
#define PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H

#include "passes/1-import/build/NodeImport.h"

namespace pcc::onnx_import {

/// The sliding window of a convolution or pool. The attribute auto_pad has been
/// converted to numbers in `pads`. Each list has one entry per spatial dim,
/// except for `pads`, which has two: first the low pads of all dims, then the
/// high pads.
struct WindowSpec {
  /// Window extent, step between windows, spacing of a window's elements, and
  /// padding of the input. All are in elements.
  llvm::SmallVector<int64_t> size, strides, dilations, pads;
  /// The part of each dim's high pad that ceil_mode adds. No average counts
  /// these elements, even if it counts padding.
  llvm::SmallVector<int64_t> overhang;

  /// Returns how many input elements one window spans along spatial dim `i`,
  /// gaps between dilated elements included.
  int64_t span(size_t i) const { return (size[i] - 1) * dilations[i] + 1; }

  /// Returns how many elements of window number `output` along spatial dim `i`,
  /// which has `input` elements, lie in the input or its padding, and not in
  /// the overhang. For 3 elements, a window of 2 and a stride of 2: 2, then 1.
  int64_t countedTaps(size_t i, int64_t input, int64_t output) const;
};

/// Reads the window attributes of `node`: kernel_shape, strides, dilations,
/// pads, auto_pad and ceil_mode. `spatial` holds the sizes of the operand's
/// spatial dims. `size` is the shape of a convolution's filter, or empty for a
/// pool, whose size is in kernel_shape.
///
/// Records an error in `node` if a list has the wrong length, if an entry is
/// out of range or if a dim has 2^31 or more elements. All lists of the result
/// have the right length, even after an error.
WindowSpec readWindow(NodeImport &node, llvm::ArrayRef<int64_t> spatial,
                      llvm::ArrayRef<int64_t> size);

} // namespace pcc::onnx_import

#endif // PCC_PASSES_1_IMPORT_BUILD_WINDOWSPEC_H
