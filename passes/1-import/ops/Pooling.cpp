//===- Pooling.cpp - import of pooling ------------------------------------===//

#include "passes/1-import/build/OpTable.h"
#include "passes/1-import/build/WindowSpec.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace pcc::graph;

namespace pcc::onnx_import {

/// Creates a pool of kind `kind`. Attributes of the node determine the size,
/// strides and padding of the window.
static Value pool(NodeImport &n, PoolKind kind) {
  Value input = n.operand(0);
  if (n.failed())
    return {};
  if (shapeOf(input).size() < 3)
    return n.invalid("pools a tensor of rank " + Twine(shapeOf(input).size()));
  if (!n.hasAttribute("kernel_shape"))
    return n.invalid("lacks the attribute 'kernel_shape'");
  WindowSpec window = readWindow(n, shapeOf(input).drop_front(2), {});
  return n.make<PoolOp>(kind, input, window.size, window.strides, window.pads,
                        window.dilations, window.overhang);
}

/// Imports MaxPool. A node whose output 1, the indices of the maxima, is used
/// is unsupported.
static Value maxPool(NodeImport &n) {
  if (n.isOutputUsed(1))
    return n.unsupported("gives the indices of maxima");
  return pool(n, PoolKind::Max);
}

/// Imports AveragePool. The attribute count_include_pad determines whether
/// padding elements count in the divisor of the average.
static Value averagePool(NodeImport &n) {
  return pool(n, n.integer("count_include_pad", 0)
                     ? PoolKind::AverageWithPadding
                     : PoolKind::Average);
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
