//===- LowerResize.cpp - resizes as gathers and weighted sums -------------===//

#include "passes/7-emit/lower/LowerResize.h"
#include "dialects/graph/ops/Resampling.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace pcc::graph;

namespace {
/// Creates simpler ops, such as gathers and weighted sums, that compute the
/// result of one resize (image scaling). Inserts the new ops immediately before
/// the resize. lowerResize() then erases the resize.
struct ResizeLowering {
  ResizeOp op;
  OpBuilder builder;
  Location loc;

  explicit ResizeLowering(ResizeOp op)
      : op(op), builder(op), loc(op.getLoc()) {}

  /// Returns the element type in which weighted sums are computed, so that only
  /// the final result is rounded:
  ///
  ///   nearest mode          the input's type (there is no sum)
  ///   floats of 16 bits     f32
  ///   integers              f64
  ///   other floats          the input's type
  Type computedType() {
    Type element = tensorType(op.getInput()).getElementType();
    if (op.getMode() == ResizeMode::Nearest || element.isF32() ||
        element.isF64())
      return element;
    return isa<FloatType>(element) ? Type(builder.getF32Type())
                                   : Type(builder.getF64Type());
  }

  /// Returns `value`, cast to element type `element` if its type differs.
  Value cast(Value value, Type element) {
    RankedTensorType type = tensorType(value);
    return type.getElementType() == element
               ? value
               : CastOp::create(builder, loc, type.clone(element), value)
                     .getResult();
  }

  /// Returns a gather of `value` along `dim`. An element of the resized dim is
  /// a weighted sum of input elements. `taps[i]` lists the terms of the sum for
  /// result element i. Each term is the index of an input element, and a
  /// weight. The gather reads one input element per result element i: the input
  /// element of the term `taps[i][number]`.
  ///
  /// Example: result element 0 is a sum of the input elements 0 and 1, and
  /// result element 1 is a sum of the input elements 1 and 2. The gather with
  /// `number` = 0 reads the input elements 0 and 1. The gather with `number` =
  /// 1 reads the input elements 1 and 2.
  Value gatherTap(Value value, int64_t dim, ArrayRef<Taps> taps,
                  size_t number) {
    SmallVector<int64_t> indices;
    for (const Taps &of : taps)
      indices.push_back(of[number].index);
    auto type = RankedTensorType::get({static_cast<int64_t>(indices.size())},
                                      builder.getI64Type());
    Value places = ConstantOp::create(
        builder, loc, type, DenseElementsAttr::get(type, ArrayRef(indices)));
    return GatherOp::create(builder, loc, value, places,
                            static_cast<uint64_t>(dim));
  }

  /// Returns a constant tensor with the weights of one term of a weighted sum.
  /// Each result element i along `dim` is a weighted sum of input elements.
  /// `taps[i]` lists the terms. Element i of the constant is the weight of
  /// `taps[i][number]`. Example: for the sums 0.75 · a + 0.25 · b and 0.4 · a +
  /// 0.6 · b and `number` 0, the constant is 0.75, 0.4. The constant has the
  /// element type of `value`, and broadcasts to the shape of `value`: if the
  /// shape is [2, 3, 5] and `dim` is 1, the constant has the shape [3, 1].
  Value weights(Value value, int64_t dim, ArrayRef<Taps> taps, size_t number) {
    RankedTensorType type = tensorType(value);
    SmallVector<Attribute> elements;
    for (const Taps &of : taps)
      elements.push_back(
          builder.getFloatAttr(type.getElementType(), of[number].weight));
    SmallVector<int64_t> shape(type.getRank() - dim, 1);
    shape[0] = static_cast<int64_t>(taps.size());
    auto table = RankedTensorType::get(shape, type.getElementType());
    return ConstantOp::create(builder, loc, table,
                              DenseElementsAttr::get(table, elements));
  }

  /// Resizes the tensor `value` along one dim, `dim`, and returns the result.
  /// The new size of this dim is its size in the result of the resize `op`. The
  /// other dims keep their sizes. Example: if `value` has the shape [2, 3, 5],
  /// `dim` is 1, and `op` has a result of shape [2, 6, 10], returns a tensor of
  /// shape [2, 6, 5].
  Value resizeDim(Value value, int64_t dim) {
    SmallVector<Taps> taps;
    for (int64_t i = 0; i < tensorType(op.getResult()).getDimSize(dim); ++i)
      taps.push_back(tapsOf(op, dim, i));
    if (op.getMode() == ResizeMode::Nearest)
      return gatherTap(value, dim, taps, 0);
    Value sum;
    for (size_t number = 0; number < taps[0].size(); ++number) {
      Value part = gatherTap(value, dim, taps, number);
      part =
          MulOp::create(builder, loc, part, weights(part, dim, taps, number));
      sum = sum ? AddOp::create(builder, loc, sum, part).getResult() : part;
    }
    return sum;
  }

  /// Creates the ops that resize the input, dim by dim, and returns the result.
  Value lower() {
    Value value = cast(op.getInput(), computedType());
    for (int64_t dim = 0; dim < tensorType(value).getRank(); ++dim)
      if (isResized(op, dim))
        value = resizeDim(value, dim);
    return cast(value, tensorType(op.getResult()).getElementType());
  }
};
} // namespace

void pcc::emit::lowerResize(ResizeOp op) {
  // A result without elements needs no computation.
  if (tensorType(op.getResult()).getNumElements() == 0)
    return;
  Value result = ResizeLowering(op).lower();
  op.replaceAllUsesWith(result);
  op.erase();
}
