//===- CausalMask.cpp - facts about causal attention masks ----------------===//
//
// Exporters write the mask as a constant, or compare positions:
//
//   %keep = compare le %keys [.., 1, S], %queries [.., S, 1]
//   %mask = select %keep, 0, lowest number
//
// The proof treats the regions t > s and t <= s of the mask separately. For
// each, it shows that all elements of the region have one property. Only
// constants of the graph are read. Larger initializers are weights, whose
// elements the compiler never reads.
//
//===----------------------------------------------------------------------===//

#include "passes/2-prepare/composites/CausalMask.h"
#include "passes/2-prepare/match/RewriteFunctions.h"
#include <cmath>

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::prepare;

/// Largest number of ops in a chain that readCausalMask() follows, from the
/// mask back to its operands.
static constexpr int maxDepth = 12;

/// Largest number of elements of a constant that readCausalMask() reads.
static constexpr int64_t mostElements = 1 << 24;

/// Lowest finite number of f16. Exporters of f16 models use it in place of
/// -inf.
static constexpr double lowestHalf = -65504;

namespace {
/// Part of an attention mask with query index s and key index t. `Later` is the
/// part above the diagonal (t > s). `Others` is the rest (t <= s).
enum class MaskRegion : uint8_t { Later, Others };
/// A property of one mask element:
///
///   False, True   elements of a boolean mask
///   Infinite      -infinity
///   Low           a number of at most -65504, the lowest f16 number
///   Zero          0
enum class Is : uint8_t { False, True, Infinite, Low, Zero };
} // namespace

/// Returns whether a mask element has the property `what`, such as Infinite.
/// The value of a boolean element is 0 or 1.
static bool holds(double element, Is what) {
  switch (what) {
  case Is::False:
  case Is::Zero:
    return element == 0;
  case Is::True:
    return element != 0;
  case Is::Infinite:
    return element == -HUGE_VAL;
  case Is::Low:
    return element <= lowestHalf;
  }
  return false;
}

/// Swaps the properties True and False: returns False for True, and True for
/// False. The function serves `not` ops. All elements of not(x) are False if
/// all elements of x are True. `what` must be True or False.
static Is opposite(Is what) { return what == Is::False ? Is::True : Is::False; }

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Calls `visit(index, element)` for each element of a constant, in row-major
/// order, until a call returns false. Returns whether all calls returned true.
/// Returns false if `dense` is null or has more than `mostElements` elements.
static bool allElements(DenseElementsAttr dense,
                        llvm::function_ref<bool(int64_t, double)> visit) {
  if (!dense || dense.getNumElements() > mostElements)
    return false;
  int64_t index = 0;
  if (isa<FloatType>(dense.getElementType())) {
    for (APFloat value : dense.getValues<APFloat>()) {
      bool ignored;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &ignored);
      if (!visit(index++, value.convertToDouble()))
        return false;
    }
    return true;
  }
  for (const APInt &value : dense.getValues<APInt>())
    if (!visit(index++, dense.getElementType().isInteger(1)
                            ? static_cast<double>(value.getZExtValue())
                            : static_cast<double>(value.getSExtValue())))
      return false;
  return true;
}

/// Returns the sizes of the last two dims of a mask: number of queries, number
/// of keys. A dim that the mask does not have counts as size 1.
static std::pair<int64_t, int64_t> lastSizes(ArrayRef<int64_t> shape) {
  return {shape.size() < 2 ? 1 : shape[shape.size() - 2],
          shape.empty() ? 1 : shape.back()};
}

/// Returns whether the constant mask `op` has the property `what`, such as
/// False, in all elements of `region`. A region is the part above the diagonal,
/// or the part on and below the diagonal.
static bool isConstant(ConstantOp op, Is what, MaskRegion region) {
  auto [rows, columns] = lastSizes(shapeOf(op.getResult()));
  // A dim of size 1 is broadcast: its one element is repeated. For example, a
  // constant of 1 x 3 elements becomes a mask of 3 x 3 elements, in which all
  // rows are equal. An element of the constant can then lie above the diagonal
  // in one row and below the diagonal in another row. Therefore the function
  // tests all elements of a constant with a dim of size 1. For other constants,
  // it tests only the elements in `region`.
  const bool isWhole = rows > 1 && columns > 1;
  return allElements(dyn_cast<DenseElementsAttr>(op.getValue()),
                     [&, rows = rows, columns = columns](int64_t i, double x) {
                       const int64_t s = i / columns % rows, t = i % columns;
                       return (isWhole &&
                               (t > s) != (region == MaskRegion::Later)) ||
                              holds(x, what);
                     });
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

namespace {
/// Token indices that grow by equal steps along one dim of a tensor: index i of
/// the dim has the token index first + step · i.
struct Positions {
  double first = 0, step = 0;
};
} // namespace

/// Returns the first number and the step of equally spaced numbers, such as 5,
/// 7, 9. The numbers lie along the last dim if `ofKeys` is true, otherwise
/// along the dim before it. Returns nullopt unless `value` is an iota along
/// this dim, or a constant whose other dims have size 1.
static std::optional<Positions> positionsOf(Value value, bool ofKeys) {
  ArrayRef<int64_t> shape = shapeOf(value);
  const int64_t dim = static_cast<int64_t>(shape.size()) - (ofKeys ? 1 : 2);
  if (dim < 0)
    return {};
  if (auto iota = definedBy<IotaOp>(value))
    return static_cast<int64_t>(iota.getDim()) == dim
               ? std::optional(Positions{0, 1})
               : std::nullopt;
  auto constant = definedBy<ConstantOp>(value);
  if (!constant || tensorType(value).getNumElements() != shape[dim] ||
      shape[dim] < 2)
    return {};
  SmallVector<double> elements;
  if (!allElements(dyn_cast<DenseElementsAttr>(constant.getValue()),
                   [&](int64_t, double x) {
                     elements.push_back(x);
                     return true;
                   }))
    return {};
  Positions positions{elements[0], elements[1] - elements[0]};
  for (size_t i = 1; i < elements.size(); ++i)
    if (elements[i] - elements[i - 1] != positions.step)
      return {};
  return positions;
}

/// Returns whether `a` and `b` satisfy the predicate of a `compare` op.
static bool compares(Predicate predicate, double a, double b) {
  switch (predicate) {
  case Predicate::Equal:
    return a == b;
  case Predicate::Less:
    return a < b;
  case Predicate::LessOrEqual:
    return a <= b;
  case Predicate::Greater:
    return a > b;
  case Predicate::GreaterOrEqual:
    return a >= b;
  }
  return false;
}

/// Returns whether the result of `op`, a mask of `size` x `size` elements,
/// provably has the property `what` in all elements of `region`. `op` must
/// compare one number per query with one number per key. Both series must be
/// equally spaced with the same step.
static bool isCompare(CompareOp op, Is what, MaskRegion region, int64_t size) {
  if (op.getPredicate() == Predicate::Equal)
    return false;
  for (bool keysFirst : {true, false}) {
    auto keys = positionsOf(op->getOperand(keysFirst ? 0 : 1), true),
         queries = positionsOf(op->getOperand(keysFirst ? 1 : 0), false);
    if (!keys || !queries || keys->step != queries->step)
      continue;
    auto [from, to] = region == MaskRegion::Later
                          ? std::pair<int64_t, int64_t>(1, size - 1)
                          : std::pair<int64_t, int64_t>(1 - size, 0);
    // The result of the comparison depends only on t - s, and changes at most
    // once while t - s grows (the predicate is not Equal). It therefore
    // suffices to test the smallest and the largest t - s in the region.
    for (int64_t distance : {from, to}) {
      const double key =
                       keys->first + keys->step * static_cast<double>(distance),
                   query = queries->first;
      const bool result = keysFirst ? compares(op.getPredicate(), key, query)
                                    : compares(op.getPredicate(), query, key);
      if (!holds(result, what))
        return false;
    }
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

namespace {
/// Proves that all elements in one region of a mask have a property, such as 0.
/// The region is the part above the diagonal, or the part on and below it. The
/// mask is `size` x `size`.
struct RegionCheck {
  MaskRegion region;
  int64_t size;

  /// Returns whether all elements of `value` in `region` provably have the
  /// property `what`. Searches the ops that compute `value`, in chains of at
  /// most `depth` ops.
  bool all(Value value, Is what, int depth = maxDepth) const {
    auto of = [&](Value operand, Is other) {
      return all(operand, other, depth - 1);
    };
    Operation *op = value.getDefiningOp();
    if (!op || depth == 0 || op->hasAttr(pinnedName))
      return false;
    if (auto constant = dyn_cast<ConstantOp>(op))
      return isConstant(constant, what, region);
    if (auto compare = dyn_cast<CompareOp>(op))
      return isCompare(compare, what, region, size);
    if (isa<BroadcastOp>(op) || keepsLastDims(op))
      return of(op->getOperand(0), what);
    if (isa<NotOp>(op))
      return of(op->getOperand(0), opposite(what));
    if (isa<AndOp, OrOp>(op))
      return combined(op, (what == Is::False) == isa<AndOp>(op),
                      [&](Value operand) { return of(operand, what); });
    if (isa<AddOp>(op))
      return isSum(op, what, of);
    if (auto select = dyn_cast<SelectOp>(op)) {
      const bool isTrue = of(select.getCondition(), Is::True),
                 isFalse = !isTrue && of(select.getCondition(), Is::False);
      return (isFalse || of(select.getOnTrue(), what)) &&
             (isTrue || of(select.getOnFalse(), what));
    }
    return false;
  }

private:
  /// Returns whether all elements of the sum `op` provably have the property
  /// `what` in the region of the check. of(x, p) must return whether all
  /// elements of the operand x in this region provably have the property p.
  /// Assumes that masks hold neither +infinity nor NaN.
  static bool isSum(Operation *op, Is what,
                    llvm::function_ref<bool(Value, Is)> of) {
    Value a = op->getOperand(0), b = op->getOperand(1);
    auto isLowAnd = [&](Value low, Value other) {
      return of(low, Is::Low) && (of(other, Is::Zero) || of(other, Is::Low));
    };
    switch (what) {
    case Is::Infinite:
      return of(a, what) || of(b, what);
    case Is::Low:
      return isLowAnd(a, b) || isLowAnd(b, a);
    case Is::Zero:
      return of(a, what) && of(b, what);
    default:
      return false;
    }
  }

  /// Returns whether `test` is true for at least one operand of `op` (if
  /// `oneIsEnough`) or for all operands. One operand is enough to prove that an
  /// `and` is false or that an `or` is true.
  static bool combined(Operation *op, bool oneIsEnough,
                       llvm::function_ref<bool(Value)> test) {
    return oneIsEnough ? llvm::any_of(op->getOperands(), test)
                       : llvm::all_of(op->getOperands(), test);
  }

  /// Returns whether `op` is a reshape that only adds or removes leading dims
  /// of size 1.
  static bool keepsLastDims(Operation *op) {
    if (!isa<ReshapeOp>(op))
      return false;
    auto strip = [](ArrayRef<int64_t> shape) {
      while (!shape.empty() && shape.front() == 1)
        shape = shape.drop_front();
      return shape;
    };
    return strip(shapeOf(op->getOperand(0))) ==
           strip(shapeOf(op->getResult(0)));
  }
};
} // namespace

CausalMask pcc::prepare::readCausalMask(Value mask) {
  auto [rows, columns] = lastSizes(shapeOf(mask));
  if (rows != columns || rows < 2)
    return {};
  const bool isBool = elementTypeOf(mask).isInteger(1);
  const RegionCheck later{MaskRegion::Later, rows},
      others{MaskRegion::Others, rows};
  CausalMask known;
  known.keepsOthers = others.all(mask, isBool ? Is::True : Is::Zero);
  known.hidesLater = later.all(mask, isBool              ? Is::False
                                     : known.keepsOthers ? Is::Low
                                                         : Is::Infinite);
  return known;
}
