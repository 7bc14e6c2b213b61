//===- RowMasking.cpp - whether attention masks can hide whole rows -------===//

#include "passes/2-prepare/composites/RowMasking.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Limit on the length of a chain of ops that the search follows.
static constexpr int maxDepth = 24;

RowMasking pcc::prepare::combineMasks(RowMasking a, RowMasking b) {
  if (a == RowMasking::HideNothing || b == RowMasking::HideNothing)
    return a == RowMasking::HideNothing ? b : a;
  return RowMasking::Unknown;
}

/// Calls `visit(index, visible)` for each element of a constant, in row-major
/// order. False and non-finite numbers are not visible. Returns false for
/// element types other than floats and integers.
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

/// Returns whether a constant mask can hide keys or whole rows. Constants of
/// more than 2^24 elements are not read. If the last dim broadcasts (size 1),
/// one hidden element hides a whole row.
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

/// Returns whether the results of `op` are assumed to be finite, whatever its
/// operands are.
static bool isFiniteSource(Operation *op) {
  return isa<GetParameterOp, MatmulOp, EinsumOp, ConvOp, LayerNormOp, RmsNormOp,
             AttentionOp, TanhOp, SigmoidOp, SinOp, CosOp, SoftmaxOp>(op);
}

/// Returns whether the result of `op` is finite if all operands are.
static bool keepsFinite(Operation *op) {
  return isa<AddOp, SubOp, MulOp, NegOp, AbsOp, MaxOp, MinOp, ReluOp, GeluOp,
             SelectOp, CastOp, ReshapeOp, BroadcastOp, TransposeOp, SliceOp,
             ConcatOp, GatherOp, GatherNdOp, GatherElementsOp, ScatterNdOp,
             ScatterElementsOp, RotaryOp>(op);
}

/// Returns whether `mask` can hide keys or whole rows. Looks at most `depth`
/// ops back.
static RowMasking search(Value mask, int64_t rowSize, int depth) {
  auto type = elementTypeOf(mask);
  Operation *op = mask.getDefiningOp();
  if (auto constant = dyn_cast_or_null<ConstantOp>(op))
    return rowMaskingOfConstant(constant, rowSize);
  if (isa<IntegerType>(type) && !type.isInteger(1))
    return RowMasking::HideNothing;
  if (!op || depth == 0)
    return RowMasking::Unknown;
  if (isa<FloatType>(type) && isFiniteSource(op))
    return RowMasking::HideNothing;
  auto of = [&](Value operand) { return search(operand, rowSize, depth - 1); };
  // The op only adds or merges dims in front of the rows.
  if (isa<BroadcastOp, ReshapeOp>(op) && !shapeOf(op->getOperand(0)).empty() &&
      !shapeOf(mask).empty() && shapeOf(op->getOperand(0)).back() == rowSize &&
      shapeOf(mask).back() == rowSize)
    return of(op->getOperand(0));
  if (isa<AddOp, AndOp>(op))
    return combineMasks(of(op->getOperand(0)), of(op->getOperand(1)));
  if (!isa<FloatType>(type) || !keepsFinite(op))
    return RowMasking::Unknown;
  // A boolean operand is cast to 0 or 1, or is a condition; both are finite.
  for (Value operand : op->getOperands())
    if (isa<FloatType>(elementTypeOf(operand)) &&
        of(operand) != RowMasking::HideNothing)
      return RowMasking::Unknown;
  return RowMasking::HideNothing;
}

RowMasking pcc::prepare::rowMaskingOf(Value mask, int64_t rowSize) {
  return search(mask, rowSize, maxDepth);
}
