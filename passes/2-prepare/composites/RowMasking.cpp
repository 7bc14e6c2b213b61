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

/// Calls `visit(index, visible)` for each element of the constant attention
/// mask `dense`, in row-major order. `index` is the position of the element in
/// this order, from 0. `visible` is false if the element hides a key from a
/// query:
///
///   element type      elements for which `visible` is false
///   float             infinity and NaN
///   boolean           false
///   other integers    none
///
/// Returns true for these element types. For all other element types, returns
/// false and does not call `visit`.
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
/// A boolean mask hides a key with the element false. A float mask hides a key
/// with an infinite element or with NaN. A mask of other integers hides no key.
/// `rowSize` is the number of keys.
///
/// The function looks at the op that computes `mask`. For example, if this op
/// adds two masks, then the function calls itself for each of the two masks. It
/// passes the number `depth` - 1 to each of these calls. If `depth` is 0, the
/// function does not call itself. It then returns Unknown, unless `mask` is a
/// constant or a mask of other integers.
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
  // A row of a mask contains all elements of one query: one element for each
  // key. For example, a mask for 8 keys has the shape [4, 8]. It has 4 rows of
  // 8 elements each. A broadcast to [2, 4, 8] only copies whole rows. A reshape
  // to [2, 2, 8] only arranges the rows in another way. In both cases, the last
  // dim keeps its size `rowSize`. Therefore each row of the result is a row of
  // the operand.
  if (isa<BroadcastOp, ReshapeOp>(op) && !shapeOf(op->getOperand(0)).empty() &&
      !shapeOf(mask).empty() && shapeOf(op->getOperand(0)).back() == rowSize &&
      shapeOf(mask).back() == rowSize)
    return of(op->getOperand(0));
  if (isa<AddOp, AndOp>(op))
    return combineMasks(of(op->getOperand(0)), of(op->getOperand(1)));
  if (!isa<FloatType>(type) || !op->hasTrait<KeepsFinite>())
    return RowMasking::Unknown;
  // `op` has a float result and the trait KeepsFinite. The trait tells pcc to
  // assume that the result is finite if all float operands of `op` are finite.
  // The loop therefore skips operands of other types. Examples are the boolean
  // condition of a select and the integer indices of a gather. For a float
  // tensor, the value HideNothing means that all elements are finite.
  for (Value operand : op->getOperands())
    if (isa<FloatType>(elementTypeOf(operand)) &&
        of(operand) != RowMasking::HideNothing)
      return RowMasking::Unknown;
  return RowMasking::HideNothing;
}

RowMasking pcc::prepare::rowMaskingOf(Value mask, int64_t rowSize) {
  return search(mask, rowSize, maxDepth);
}
