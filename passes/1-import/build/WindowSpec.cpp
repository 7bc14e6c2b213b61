//===- WindowSpec.cpp - sliding windows of convolutions and pools ---------===//

#include "passes/1-import/build/WindowSpec.h"
#include "status/Counted.h"
#include "status/Suggestions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace pcc::onnx_import {

/// Reads the attribute `name` of `node`, a list of `count` integers from
/// `least` to 2^31 - 1. If `node` lacks the attribute, each integer is
/// `otherwise`. If the list is invalid, records an error in `node` and returns
/// a list of `count` integers: bad integers become `least`, and missing
/// integers become `otherwise`.
static SmallVector<int64_t> readList(NodeImport &node, StringRef name,
                                     size_t count, int64_t otherwise,
                                     int64_t least) {
  SmallVector<int64_t> list =
      node.integerList(name).value_or(SmallVector<int64_t>(count, otherwise));
  if (list.size() != count)
    node.invalid("attribute '" + name + "' has " +
                 counted(list.size(), "entry") + ", not " + Twine(count));
  for (int64_t &entry : list)
    if (entry < least || entry > INT32_MAX) {
      node.invalid("attribute '" + name + "' has an entry " + Twine(entry));
      entry = least;
    }
  list.resize(count, otherwise);
  return list;
}

/// Records an error in `node` if a size in `sizes` is not below 2^31. `node` is
/// a convolution or a pool. `sizes` contains the sizes of the spatial dims of
/// the input, or the sizes of the window. If all sizes are below 2^31, the
/// product of two sizes fits into an int64_t.
static void boundSizes(NodeImport &node, ArrayRef<int64_t> sizes) {
  for (int64_t size : sizes)
    if (size > INT32_MAX)
      node.invalid("slides a window over a dim of " + counted(size, "element"));
}

/// Computes the pads for auto_pad SAME_UPPER (if `upper`) or SAME_LOWER, so
/// that each dim has ceil(size / stride) windows. If a dim gets an odd number
/// of padding elements, SAME_UPPER puts one more at the high end than at the
/// low end. SAME_LOWER puts one more at the low end.
static void padSame(WindowSpec &window, ArrayRef<int64_t> spatial, bool upper) {
  for (auto [i, input] : llvm::enumerate(spatial)) {
    int64_t windows = llvm::divideCeil(input, window.strides[i]);
    int64_t total = std::max<int64_t>(0, (windows - 1) * window.strides[i] +
                                             window.span(i) - input);
    int64_t less = total / 2;
    window.pads[i] = upper ? less : total - less;
    window.pads[i + spatial.size()] = upper ? total - less : less;
  }
}

/// Applies the ONNX attribute ceil_mode: a dim gets one more window if elements
/// at the end of the dim lie in no window. The excess of this window beyond the
/// padded input is the overhang, which is also added to the high pad. `spatial`
/// holds the sizes of the spatial dims.
static void addOverhang(WindowSpec &window, ArrayRef<int64_t> spatial) {
  for (auto [i, input] : llvm::enumerate(spatial)) {
    int64_t &high = window.pads[i + spatial.size()];
    int64_t room = input + window.pads[i] + high - window.span(i);
    if (room < 0)
      continue;
    int64_t last =
        llvm::divideCeil(room, window.strides[i]) * window.strides[i];
    // A window that starts in the high pad would contain only padding. Drop it.
    if (last >= input + window.pads[i])
      last -= window.strides[i];
    window.overhang[i] = std::max<int64_t>(0, last - room);
    high += window.overhang[i];
  }
}

int64_t WindowSpec::countedTaps(size_t i, int64_t input, int64_t output) const {
  const int64_t end = input + pads[i] + pads[i + size.size()] - overhang[i];
  const int64_t room = end - output * strides[i];
  return std::clamp<int64_t>(llvm::divideCeilSigned(room, dilations[i]), 0,
                             size[i]);
}

WindowSpec readWindow(NodeImport &node, ArrayRef<int64_t> spatial,
                      ArrayRef<int64_t> size) {
  size_t rank = spatial.size();
  WindowSpec window;
  window.size = SmallVector<int64_t>(size);
  if (node.hasAttribute("kernel_shape") || size.empty())
    window.size = readList(node, "kernel_shape", rank, 1, 1);
  if (!size.empty() && ArrayRef(window.size) != size)
    node.invalid("attribute 'kernel_shape' is " + sizesText(window.size) +
                 ", but the filter has " + sizesText(size));
  boundSizes(node, spatial);
  boundSizes(node, window.size);
  window.strides = readList(node, "strides", rank, 1, 1);
  window.dilations = readList(node, "dilations", rank, 1, 1);
  window.pads = readList(node, "pads", 2 * rank, 0, 0);
  window.overhang.assign(rank, 0);
  if (node.failed())
    return window;
  std::string automatic = node.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER")
    padSame(window, spatial, automatic == "SAME_UPPER");
  else if (automatic == "VALID")
    window.pads.assign(2 * rank, 0);
  else if (!automatic.empty())
    if (std::string error = checkWord(
            automatic, {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
        !error.empty())
      node.invalid("attribute 'auto_pad' " + error);
  if (node.integer("ceil_mode", 0))
    addOverhang(window, spatial);
  return window;
}

} // namespace pcc::onnx_import
