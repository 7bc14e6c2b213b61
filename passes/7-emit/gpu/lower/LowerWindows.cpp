//===- LowerWindows.cpp - convolutions and pools over im2col columns ------===//

#include "passes/7-emit/gpu/lower/LowerWindows.h"
#include "dialects/graph/ops/Window.h"
#include "passes/7-emit/gpu/lower/Convolution.h"
#include "passes/7-emit/gpu/lower/TransposedConvolution.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::emit;
using namespace pcc::graph;

/// Returns the spatial dims of the shape [N, C, spatial…] of `value`.
static ArrayRef<int64_t> spatial(Value value) {
  return shapeOf(value).drop_front(2);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Replaces one graph.conv by the ops of convolve(). The op convolves an input
/// with filters. The channels of the input are divided into G groups. Each
/// group has C channels and O filters. `taps…` are the sizes of a filter along
/// the spatial dims. Example: a filter of 3 x 3 elements has the sizes 3, 3.
/// The filters of the op have the shape [G · O, C, taps…]. convolve() needs the
/// filters in the shape [G, O, C, taps…], so the function reshapes them.
static void lowerConv(ConvOp op) {
  LoweringBuilder b(op);
  SmallVector<int64_t> shape(shapeOf(op.getFilter()));
  const int64_t group = op.getGroup();
  shape[0] /= group;
  shape.insert(shape.begin(), group);
  SmallVector<SlidingDim> dims;
  for (auto [dim, output] : llvm::enumerate(spatial(op.getResult())))
    dims.push_back({output, shape[dim + 3], op.getStrides()[dim],
                    op.getPads()[dim], op.getDilations()[dim]});
  Value filters = b.reshape(op.getFilter(), shape);
  b.replaceWith(convolve(b, op.getInput(), filters, dims));
}

/// Replaces one graph.conv_transpose.
static void lowerConvTranspose(ConvTransposeOp op) {
  LoweringBuilder b(op);
  b.replaceWith(convolveTransposed(b, op));
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// Divides the sum of each window of an average pool by the number of elements
/// that count. Elements in the padding count only in pools of kind
/// AverageWithPadding.
static Value dividedByCounts(LoweringBuilder &b, PoolOp op, Value sum) {
  Type element = tensorType(sum).getElementType();
  for (auto [dim, size] : llvm::enumerate(spatial(op.getResult()))) {
    SmallVector<Attribute> counts;
    for (int64_t i = 0; i < size; ++i) {
      const int64_t count = countedTaps(op, dim, i);
      counts.push_back(isa<FloatType>(element)
                           ? Attribute(b.getFloatAttr(element, count))
                           : b.getIntegerAttr(element, count));
    }
    SmallVector<int64_t> shape(spatial(op.getResult()).size() - dim, 1);
    shape[0] = size;
    auto type = RankedTensorType::get(shape, element);
    Value table =
        b.make<ConstantOp>(type, DenseElementsAttr::get(type, counts));
    sum = b.make<DivOp>(sum, table);
  }
  return sum;
}

/// Replaces one graph.pool by a reduction over the elements of each window.
/// Averages of bf16 or f16 are summed in f32.
static void lowerPool(PoolOp op) {
  LoweringBuilder b(op);
  const bool isMax = op.getKind() == PoolKind::Max;
  SmallVector<SlidingDim> dims;
  SmallVector<int64_t> taps;
  for (auto [dim, output] : llvm::enumerate(spatial(op.getResult()))) {
    taps.push_back(dim + 2);
    dims.push_back({output, op.getWindow()[dim], op.getStrides()[dim],
                    op.getPads()[dim], op.getDilations()[dim]});
  }
  Value seen = im2col(b, op.getInput(), dims, isMax ? -HUGE_VAL : 0);
  Type element = tensorType(seen).getElementType();
  if (isMax)
    return b.replaceWith(b.reduce(ReduceKind::Max, seen, taps));
  Value sum = b.reduce(ReduceKind::Sum, b.cast(seen, sumType(element)), taps);
  b.replaceWith(b.cast(dividedByCounts(b, op, sum), element));
}

int64_t pcc::emit::lowerWindows(func::FuncOp function) {
  return lowerEach(function, lowerConv) +
         lowerEach(function, lowerConvTranspose) +
         lowerEach(function, lowerPool);
}
