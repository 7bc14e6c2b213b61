//===- RowMasking.cpp - whether attention masks can hide whole rows -------===//

#include "passes/2-prepare/composites/RowMasking.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Largest number of ops in a chain that the function `search` follows, from
/// the mask back to its operands.
static constexpr int maxDepth = 24;

RowMasking pcc::prepare::combineMasks(RowMasking a, RowMasking b) {
  if (a == RowMasking::HideNothing || b == RowMasking::HideNothing)
    return a == RowMasking::HideNothing ? b : a;
  return RowMasking::Unknown;
}

/// Calls `visit(index, visible)` for each element of a constant mask, in
/// row-major order. An element is visible unless it is false, infinite or NaN.
/// Returns false, without a call, if the elements are neither floats nor
/// integers.
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

/// Finds out how many keys a constant attention mask can hide from a query:
///
///   HideNothing   the mask hides no key
///   KeepOne       the mask hides keys, but each query sees at least one key
///   Unknown       the mask hides all keys of a query, or the function has not
///                 examined the mask
///
/// `rowSize` is the number of keys. The last dim of the mask has the size
/// `rowSize`, or has the size 1 if a later op broadcasts the mask. The function
/// does not examine constants of more than 2^24 elements.
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

/// Finds out how many keys the attention mask `mask` can hide from a query:
///
///   HideNothing   the mask hides no key
///   KeepOne       the mask may hide keys, but each query sees at least one key
///   Unknown       the function has proved neither of these
///
/// `rowSize` is the number of keys. The function looks at the op that computes
/// `mask`. For some ops, it then calls itself for the operands of the op.
/// `depth` is smaller by 1 in each such call. If `depth` is 0, the function
/// examines only constants and integer masks.
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
  // A row is the last dim of a mask: all keys of one query. The op keeps this
  // dim and changes only the other dims. Therefore each row of the result is a
  // row of the operand.
  if (isa<BroadcastOp, ReshapeOp>(op) && !shapeOf(op->getOperand(0)).empty() &&
      !shapeOf(mask).empty() && shapeOf(op->getOperand(0)).back() == rowSize &&
      shapeOf(mask).back() == rowSize)
    return of(op->getOperand(0));
  if (isa<AddOp, AndOp>(op))
    return combineMasks(of(op->getOperand(0)), of(op->getOperand(1)));
  if (!isa<FloatType>(type) || !op->hasTrait<KeepsFinite>())
    return RowMasking::Unknown;
  // The result of `op` is finite if all float operands are finite. A boolean
  // operand has no influence: it is the condition of a select, or `op` casts it
  // to 0 or 1.
  for (Value operand : op->getOperands())
    if (isa<FloatType>(elementTypeOf(operand)) &&
        of(operand) != RowMasking::HideNothing)
      return RowMasking::Unknown;
  return RowMasking::HideNothing;
}

RowMasking pcc::prepare::rowMaskingOf(Value mask, int64_t rowSize) {
  return search(mask, rowSize, maxDepth);
}
