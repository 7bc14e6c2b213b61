//===- RowMasking.cpp - whether attention masks can hide whole rows -------===//

#include "passes/2-prepare/composites/RowMasking.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Limit for the function `search`. It considers the op that computes an
/// attention mask, then the ops that compute the operands of this op, and so
/// on. It goes back through a chain of at most this many ops.
static constexpr int maxDepth = 24;

RowMasking pcc::prepare::combineMasks(RowMasking a, RowMasking b) {
  if (a == RowMasking::HideNothing || b == RowMasking::HideNothing)
    return a == RowMasking::HideNothing ? b : a;
  return RowMasking::Unknown;
}

/// Calls `visit(index, visible)` for each element of the constant attention
/// mask `dense`, in row-major order. `visible` is false for an infinity, a NaN
/// and the boolean false. Returns false, without a call, if the elements are
/// neither floats nor integers.
static bool visitElements(DenseElementsAttr dense,
                          llvm::function_ref<void(size_t, bool)> visit) {
  size_t index = 0;
  if (isa<FloatType>(dense.getElementType())) {
    for (APFloat value : dense.getValues<APFloat>())
      visit(index++, value.isFinite());
    return true;
  }
  if (!dense.getElementType().isInteger())
    return false;
  bool booleans = dense.getElementType().isInteger(1);
  for (APInt value : dense.getValues<APInt>())
    visit(index++, !booleans || !value.isZero());
  return true;
}

/// Returns HideNothing if the constant attention mask `op` hides no key, and
/// KeepOne if each of its rows (queries) has a key that it does not hide.
/// Otherwise returns Unknown. `rowSize` is the number of keys. The last dim of
/// the mask has this size or 1; KeepOne requires this size. Also returns
/// Unknown for constants of more than 2^24 elements.
static RowMasking rowMaskingOfConstant(ConstantOp op, int64_t rowSize) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  auto shape = shapeOf(op.getResult());
  int64_t size = shape.empty() ? 1 : shape.back();
  if (!dense || dense.empty() || dense.getNumElements() > (1 << 24))
    return RowMasking::Unknown;
  llvm::SmallVector<bool> kept(dense.getNumElements() / size, false);
  bool hides = false;
  if (!visitElements(dense, [&](size_t index, bool visible) {
        hides |= !visible;
        kept[index / size] |= visible;
      }))
    return RowMasking::Unknown;
  if (!hides)
    return RowMasking::HideNothing;
  return size == rowSize && llvm::all_of(kept, [](bool k) { return k; })
             ? RowMasking::KeepOne
             : RowMasking::Unknown;
}

/// Finds out how many keys the attention mask `mask` can hide from a query (see
/// RowMasking). A boolean mask hides a key by false. A float mask hides a key
/// by an infinity or NaN. Integers that are not boolean hide no key. `rowSize`
/// is the number of keys. `depth` limits the chain of ops that the search
/// follows from `mask` back to its operands. If the limit is reached, the
/// result is Unknown.
static RowMasking search(Value mask, int64_t rowSize, int depth) {
  auto type = elementTypeOf(mask);
  Operation *op = mask.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    return rowMaskingOfConstant(constant, rowSize);
  if (isa<IntegerType>(type) && !type.isInteger(1))
    return RowMasking::HideNothing;
  if (!op || depth == 0)
    return RowMasking::Unknown;
  if (isa<FloatType>(type) && op->hasTrait<GivesFinite>())
    return RowMasking::HideNothing;
  auto of = [&](Value operand) { return search(operand, rowSize, depth - 1); };
  // A row of a mask holds all elements of one query. A broadcast or reshape
  // that keeps the size of the last dim only copies or regroups rows. Each row
  // of the result is therefore a row of the operand.
  if (isa<BroadcastOp, ReshapeOp>(op) && !shapeOf(op->getOperand(0)).empty() &&
      !shapeOf(mask).empty() && shapeOf(op->getOperand(0)).back() == rowSize &&
      shapeOf(mask).back() == rowSize)
    return of(op->getOperand(0));
  if (isa<AddOp, AndOp>(op))
    return combineMasks(of(op->getOperand(0)), of(op->getOperand(1)));
  if (!isa<FloatType>(type) || !op->hasTrait<KeepsFinite>())
    return RowMasking::Unknown;
  // A float mask hides a key only by an infinity or NaN. pcc assumes that an op
  // with the trait KeepsFinite has a finite result if all its float operands
  // are finite. Other operands, such as indices, do not matter.
  for (Value operand : op->getOperands())
    if (isa<FloatType>(elementTypeOf(operand)) &&
        of(operand) != RowMasking::HideNothing)
      return RowMasking::Unknown;
  return RowMasking::HideNothing;
}

RowMasking pcc::prepare::rowMaskingOf(Value mask, int64_t rowSize) {
  return search(mask, rowSize, maxDepth);
}
