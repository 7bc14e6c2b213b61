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

/// Returns the factors by which the caller multiplies the result of the op
/// `graph.pool` for an average pool. With ONNX's attribute ceil_mode, the last
/// window may reach beyond the padded input. The window elements beyond the
/// padded input are called overhang. The op divides each sum by the window
/// size. ONNX divides each sum by the number of window elements that are not
/// overhang. The factor of a window is therefore:
///
///   factor = window size / number of window elements that are not overhang
///
/// For a window of 3 elements with 1 element of overhang, the factor is 3/2.
/// For a window without overhang, the factor is 1.
///
/// The function returns a constant with one factor for each position of the
/// window along spatial dim `i`. The first spatial dim has the number 0. The
/// constant broadcasts along the other dims. Example: there are 2 spatial dims
/// and `i` is 0. If the window has 4 positions along this dim, the constant has
/// the shape [4, 1]. The parameters are:
///
///   window    size, stride and padding of the sliding window
///   input     size of spatial dim `i` of the pool's operand
///   type      element type of the constant
///   outputs   number of window positions along spatial dim `i`
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

/// Creates an average pool for a node with ceil_mode = 1 and
/// count_include_pad = 1. With ceil_mode, the last window may reach beyond the
/// padded input. The window elements beyond the padded input are called
/// overhang. ONNX divides each sum by the number of window elements that are
/// not overhang. Padding elements count in this number.
///
/// The created op `graph.pool` divides each sum by the window size. Therefore,
/// the function multiplies the result of `graph.pool` by a factor for each
/// window. The factor is the window size divided by the number that ONNX uses.
/// For example, the input is [4, 6, 5], the window size is 2, the stride is 2,
/// and there is no padding:
///
///   window   elements        graph.pool          factor    result
///   0        4, 6            (4 + 6) / 2 = 5     2 / 2     5
///   1        5, overhang     (5 + 0) / 2 = 2.5   2 / 1     5
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
