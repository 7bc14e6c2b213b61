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

  /// Returns the element type in which weighted sums are computed: f32 for
  /// 16-bit floats, f64 for integers, and otherwise the type of the input. The
  /// nearest mode has no sums, and uses the type of the input.
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

  /// Returns a gather of `value` along `dim`. Each element i of the resized dim
  /// is a weighted sum of input elements, and `taps[i]` lists its terms. The
  /// gather reads the input element of term number `number` for each i.
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

  /// Returns a constant with the weights of term number `number` of each
  /// weighted sum. Element i is the weight of `taps[i][number]`. The constant
  /// broadcasts along `dim` to the shape of `value`: [3, 1] for the shape [2,
  /// 3, 5] and the dim 1.
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
