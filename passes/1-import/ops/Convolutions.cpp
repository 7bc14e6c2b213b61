//===- Convolutions.cpp - import of plain and transposed convolutions -----===//

#include "passes/1-import/build/OpTable.h"
#include "passes/1-import/build/WindowSpec.h"
#include "status/Counted.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Adds the bias (operand 2, of shape [channels]) to `result` along dim 1, the
/// channels. Returns `result` itself if the node has no bias.
static Value addBias(NodeImport &n, Value result) {
  if (!n.has(2) || n.failed())
    return result;
  Value bias = n.operand(2);
  if (n.failed())
    return {};
  if (shapeOf(bias).size() != 1)
    return n.invalid("has a bias of rank " + Twine(shapeOf(bias).size()));
  SmallVector<int64_t> shape(shapeOf(result).size(), 1);
  shape[1] = shapeOf(bias)[0];
  return n.add(result, n.reshape(bias, shape));
}

/// Returns whether input and filter have the same rank and at least 3 dims:
/// batch, channels and spatial dims. If not, records an error.
static bool ranksFit(NodeImport &n, Value input, Value filter) {
  if (n.failed())
    return false;
  size_t rank = shapeOf(input).size();
  if (rank >= 3 && shapeOf(filter).size() == rank)
    return true;
  n.invalid("convolves a tensor of rank " + Twine(rank) +
            " with filters of rank " + Twine(shapeOf(filter).size()));
  return false;
}

/// Returns whether `channels` channels can be split into `group` groups of
/// equal size.
static bool divides(int64_t group, int64_t channels) {
  return group >= 1 && group <= std::max<int64_t>(1, channels) &&
         channels % group == 0;
}

/// Imports Conv. The input has the shape [batch, channels, spatial dims]. The
/// filter has the shape [result channels, channels / group, spatial dims].
static Value conv(NodeImport &n) {
  Value input = n.operand(0), filter = n.operand(1);
  int64_t group = n.integer("group", 1);
  if (!ranksFit(n, input, filter))
    return {};
  WindowSpec window = readWindow(n, shapeOf(input).drop_front(2),
                                 shapeOf(filter).drop_front(2));
  if (!divides(group, shapeOf(filter)[0]))
    return n.invalid("has " + Twine(shapeOf(filter)[0]) + " filters in " +
                     counted(group, "group"));
  return addBias(n, n.make<ConvOp>(input, filter, window.strides, window.pads,
                                   window.dilations,
                                   static_cast<uint64_t>(group)));
}

/// Sets `window.pads` of a ConvTranspose so that each spatial dim of the result
/// has the size in `output`. If the sum of a dim's pads is odd, the larger pad
/// is the high one with auto_pad SAME_UPPER, and the low one otherwise. If a
/// dim of the result is too small even without pads, adds the number of missing
/// elements to its entry of `extra` (ONNX's output_padding).
static void padForOutput(NodeImport &n, WindowSpec &window,
                         ArrayRef<int64_t> spatial, ArrayRef<int64_t> output,
                         SmallVectorImpl<int64_t> &extra) {
  bool upper = n.text("auto_pad", "NOTSET") == "SAME_UPPER";
  for (auto [i, input] : llvm::enumerate(spatial)) {
    int64_t total =
        window.strides[i] * (input - 1) + extra[i] + window.span(i) - output[i];
    if (total < 0)
      extra[i] -= total;
    total = std::max<int64_t>(0, total);
    int64_t less = total / 2;
    window.pads[i] = upper ? less : total - less;
    window.pads[i + spatial.size()] = upper ? total - less : less;
  }
}

/// Returns whether one of `sizes` is negative or at least 2^31.
static bool isOutOfRange(ArrayRef<int64_t> sizes) {
  return llvm::any_of(
      sizes, [](int64_t size) { return size < 0 || size > INT32_MAX; });
}

/// Imports ConvTranspose. The filter has the shape
/// [channels, result channels / group, spatial dims]. The spatial sizes of the
/// result are output_shape if given. With auto_pad SAME_UPPER or SAME_LOWER,
/// they are input size · stride.
static Value convTranspose(NodeImport &n) {
  Value input = n.operand(0), filter = n.operand(1);
  int64_t group = n.integer("group", 1);
  if (!ranksFit(n, input, filter))
    return {};
  ArrayRef<int64_t> spatial = shapeOf(input).drop_front(2);
  WindowSpec window = readWindow(n, spatial, shapeOf(filter).drop_front(2));
  if (n.failed())
    return {};
  SmallVector<int64_t> extra =
      n.integerList("output_padding")
          .value_or(SmallVector<int64_t>(spatial.size(), 0));
  auto output = n.integerList("output_shape");
  if (!output && StringRef(n.text("auto_pad", "")).starts_with("SAME")) {
    output.emplace();
    for (auto [i, size] : llvm::enumerate(spatial))
      output->push_back(size * window.strides[i]);
  }
  // output_shape may list all dims of the result. Remove its first two entries,
  // batch and channels, in this case. The spatial sizes remain.
  if (output && output->size() == spatial.size() + 2)
    output->erase(output->begin(), output->begin() + 2);
  if (extra.size() != spatial.size() ||
      (output && output->size() != spatial.size()))
    return n.invalid("output_padding or output_shape does not have " +
                     counted(spatial.size(), "entry"));
  if (isOutOfRange(extra) || (output && isOutOfRange(*output)))
    return n.invalid("output_padding or output_shape is negative or too large");
  if (output)
    padForOutput(n, window, spatial, *output, extra);
  if (!divides(group, shapeOf(input)[1]))
    return n.invalid("has " + Twine(shapeOf(input)[1]) + " channels in " +
                     counted(group, "group"));
  return addBias(n, n.make<ConvTransposeOp>(
                        input, filter, window.strides, window.pads,
                        window.dilations, extra, static_cast<uint64_t>(group)));
}

void addConvolutionOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"Conv", 1, 2, 3, conv},
      {"ConvTranspose", 1, 2, 3, convTranspose},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
