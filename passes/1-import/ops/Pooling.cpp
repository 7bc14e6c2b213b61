//===- Pooling.cpp - import of pooling ------------------------------------===//

#include "passes/1-import/build/DenseElements.h"
#include "passes/1-import/build/OpTable.h"
#include "passes/1-import/build/WindowSpec.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Reads the sliding window of a pooling node, such as its size and its
/// strides, from the node's attributes. `input` is the tensor to which the
/// window applies.
static WindowSpec windowOf(NodeImport &n, Value input) {
  if (n.failed())
    return {};
  if (shapeOf(input).size() < 3)
    n.invalid("pools a tensor of rank " + Twine(shapeOf(input).size()));
  else if (!n.hasAttribute("kernel_shape"))
    n.invalid("lacks the attribute 'kernel_shape'");
  return n.failed() ? WindowSpec()
                    : readWindow(n, shapeOf(input).drop_front(2), {});
}

static Value pool(NodeImport &n, PoolKind kind, Value input,
                  const WindowSpec &window) {
  if (n.failed())
    return {};
  return n.make<PoolOp>(kind, input, window.size, window.strides, window.pads,
                        window.dilations);
}

/// Imports MaxPool. The use of output 1 (indices of the maxima) is unsupported.
static Value maxPool(NodeImport &n) {
  if (n.isOutputUsed(1))
    return n.unsupported("gives the indices of maxima");
  Value input = n.operand(0);
  return pool(n, PoolKind::Max, input, windowOf(n, input));
}

/// Returns a constant with one factor for each of the `outputs` windows along
/// spatial dim `i`. The factor is the window size divided by the number of
/// window elements inside the padded input. `input` is the size of the dim.
static Value overhangFactors(NodeImport &n, const WindowSpec &window, size_t i,
                             int64_t input, Type type, int64_t outputs) {
  SmallVector<Attribute> factors;
  for (int64_t output = 0; output < outputs; ++output)
    factors.push_back(
        numberAttr(type, static_cast<double>(window.size[i]) /
                             static_cast<double>(std::max<int64_t>(
                                 window.countedTaps(i, input, output), 1))));
  SmallVector<int64_t> shape(window.size.size() - i, 1);
  shape[0] = outputs;
  return n.constant(
      DenseElementsAttr::get(RankedTensorType::get(shape, type), factors));
}

/// Creates an average pool for ceil_mode with count_include_pad. `graph.pool`
/// divides each sum by the window size. ONNX divides by the number of window
/// elements inside the padded input. A constant factor per window corrects
/// this.
static Value averageWithoutOverhang(NodeImport &n, Value input,
                                    const WindowSpec &window) {
  Type type = n.elementType(0);
  if (type.getIntOrFloatBitWidth() < 32)
    input = n.cast(input, type = n.getBuilder().getF32Type());
  Value y = pool(n, PoolKind::AverageWithPadding, input, window);
  for (size_t i = 0; i < window.size.size() && !n.failed(); ++i)
    if (window.overhang[i] > 0)
      y = n.mul(y, overhangFactors(n, window, i, shapeOf(input)[i + 2], type,
                                   shapeOf(y)[i + 2]));
  return n.cast(y, n.elementType(0));
}

/// Imports AveragePool. The attribute count_include_pad determines whether
/// padding elements count in the divisor of the average.
static Value averagePool(NodeImport &n) {
  Value input = n.operand(0);
  const bool withPadding = n.integer("count_include_pad", 0) != 0;
  const WindowSpec window = windowOf(n, input);
  if (n.failed() || !withPadding)
    return pool(n, PoolKind::Average, input, window);
  if (llvm::any_of(window.overhang, [](int64_t size) { return size > 0; }))
    return averageWithoutOverhang(n, input, window);
  return pool(n, PoolKind::AverageWithPadding, input, window);
}

/// Imports a pool whose window is the whole spatial extent, as a reduction over
/// all spatial dims.
template <ReduceKind kind> static Value globalPool(NodeImport &n) {
  Value input = n.operand(0);
  auto dims = llvm::to_vector(
      llvm::seq<int64_t>(2, std::max<size_t>(2, shapeOf(input).size())));
  return n.reduce(kind, input, dims, /*keep=*/true);
}

void addPoolingOps(OpTable &table) {
  static constexpr OpForm forms[] = {
      {"MaxPool", 1, 1, 1, maxPool},
      {"AveragePool", 1, 1, 1, averagePool},
      {"GlobalAveragePool", 1, 1, 1, globalPool<ReduceKind::Mean>},
      {"GlobalMaxPool", 1, 1, 1, globalPool<ReduceKind::Max>},
  };
  table.add("", forms);
}

} // namespace pcc::onnx_import
