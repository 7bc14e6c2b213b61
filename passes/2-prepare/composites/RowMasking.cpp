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
  // Consider a broadcast or a reshape that keeps the size of the last dim. A
  // row of a mask contains all elements of one query. For example, a mask for 4
  // queries and 8 keys has the shape [4, 8]: it has 4 rows of 8 elements. A
  // broadcast to [2, 4, 8] copies the rows. A reshape to [2, 2, 8] arranges the
  // rows in another way. Neither op changes the elements within a row. If each
  // row of the operand keeps a key, each row of the result keeps a key, too.
  // The answer for the operand is therefore the answer for the result.
  if (isa<BroadcastOp, ReshapeOp>(op) && !shapeOf(op->getOperand(0)).empty() &&
      !shapeOf(mask).empty() && shapeOf(op->getOperand(0)).back() == rowSize &&
      shapeOf(mask).back() == rowSize)
    return of(op->getOperand(0));
  if (isa<AddOp, AndOp>(op))
    return combineMasks(of(op->getOperand(0)), of(op->getOperand(1)));
  if (!isa<FloatType>(type) || !op->hasTrait<KeepsFinite>())
    return RowMasking::Unknown;
  // Test whether all elements of the float mask are finite. A float mask hides
  // a key only by an infinite element or by NaN. A finite mask therefore hides
  // no key.
  //
  // The mask is the result of `op`. `op` has the trait KeepsFinite. The trait
  // means that pcc makes this assumption: if all float operands of `op` are
  // finite, the result of `op` is finite. The loop therefore calls search() for
  // each float operand. If search() returns HideNothing for a float operand,
  // all elements of the operand are finite. The loop skips operands that are
  // not float, such as the boolean condition of a select or the integer indices
  // of a gather.
  for (Value operand : op->getOperands())
    if (isa<FloatType>(elementTypeOf(operand)) &&
        of(operand) != RowMasking::HideNothing)
      return RowMasking::Unknown;
  return RowMasking::HideNothing;
}

RowMasking pcc::prepare::rowMaskingOf(Value mask, int64_t rowSize) {
  return search(mask, rowSize, maxDepth);
}
