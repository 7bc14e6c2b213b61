//===- IntegerRange.cpp - range of the elements of an integer tensor ------===//

#include "passes/5-localize/IntegerRange.h"
#include "dialects/dist/DistDialect.h"
#include "dialects/graph/GraphDialect.h"
#include "dialects/pipe/PipeDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace pcc;
using namespace pcc::localize;

using Range = std::optional<IntegerRange>;

/// Returns the smallest range that contains both ranges.
static Range united(Range a, Range b) {
  if (!a || !b)
    return std::nullopt;
  return IntegerRange{std::min(a->low, b->low), std::max(a->high, b->high)};
}

/// Returns the smallest and the largest element of `constant`. If `component`
/// is given, uses only the elements with this index in the last dim. Example:
/// the range of [[0, 7], [1, 8]] is 0 to 8, and the range of component 1 is 7
/// to 8. Returns nullopt if there are no elements, or if they are unsigned or
/// no integers.
static Range rangeOf(graph::ConstantOp constant,
                     std::optional<int64_t> component) {
  auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
  if (!elements || elements.getNumElements() == 0 ||
      elements.getElementType().isUnsignedInteger())
    return std::nullopt;
  const int64_t period = component ? elements.getType().getShape().back() : 1;
  Range range;
  int64_t at = 0;
  for (const APInt &element : elements.getValues<APInt>())
    if (at++ % period == component.value_or(0)) {
      const int64_t number = elements.getElementType().isInteger(1)
                                 ? static_cast<int64_t>(element.getZExtValue())
                                 : element.getSExtValue();
      range = range ? united(range, IntegerRange{number, number})
                    : IntegerRange{number, number};
    }
  return range;
}

/// Returns the range of combine(x, y) for x in `a` and y in `b`; nullopt on
/// overflow. `combine` must be monotonic in x and in y.
template <typename Combine>
static Range combined(Range a, Range b, Combine combine) {
  if (!a || !b)
    return std::nullopt;
  Range range;
  for (int64_t lhs : {a->low, a->high})
    for (int64_t rhs : {b->low, b->high}) {
      int64_t number;
      if (combine(lhs, rhs, number))
        return std::nullopt;
      range = range ? united(range, IntegerRange{number, number})
                    : IntegerRange{number, number};
    }
  return range;
}

/// Returns the range of the remainders of `op`, or nullopt if the divisor may
/// be 0 or negative. A remainder has the sign of the dividend if `op` is
/// truncated (fmod in C), else the sign of the divisor (% in Python).
static Range remainder(graph::ModOp op, Range dividend, Range divisor) {
  if (!divisor || divisor->low <= 0)
    return std::nullopt;
  const bool mayBeNegative =
      op.getTruncated() && !(dividend && dividend->low >= 0);
  return IntegerRange{mayBeNegative ? 1 - divisor->high : 0, divisor->high - 1};
}

/// Returns a range that contains all elements of the result of `op`, an
/// element-wise op on integers. A range is the smallest and the largest number
/// that an element may be. `operands` holds the range of each operand, or
/// nullopt for an operand without a known range. Example: `op` adds two
/// operands with the ranges 0 to 3 and 2 to 2. The function returns the range 2
/// to 5. Returns nullopt if no range is known.
static Range rangeOfElementWise(Operation *op, ArrayRef<Range> operands) {
  if (isa<graph::CastOp>(op))
    return operands[0];
  if (isa<graph::SelectOp>(op))
    return united(operands[1], operands[2]);
  if (auto mod = dyn_cast<graph::ModOp>(op))
    return remainder(mod, operands[0], operands[1]);
  if (isa<graph::AddOp>(op))
    return combined(operands[0], operands[1], llvm::AddOverflow<int64_t>);
  if (isa<graph::SubOp>(op))
    return combined(operands[0], operands[1], llvm::SubOverflow<int64_t>);
  if (isa<graph::MulOp>(op))
    return combined(operands[0], operands[1], llvm::MulOverflow<int64_t>);
  // The range of a max or a min may be known although one operand has no known
  // range. For example, max(x, 0) is at least 0 for every x. Let the range
  // `any` (all 64-bit integers) stand for an unknown range.
  constexpr IntegerRange any{INT64_MIN, INT64_MAX};
  if (isa<graph::MaxOp, graph::MinOp>(op))
    return combined(operands[0].value_or(any), operands[1].value_or(any),
                    [&](int64_t a, int64_t b, int64_t &number) {
                      number = isa<graph::MaxOp>(op) ? std::max(a, b)
                                                     : std::min(a, b);
                      return false;
                    });
  return std::nullopt;
}

/// Considers the elements of the result of `op` whose index in the last dim is
/// `component`. Returns the index, in the last dim of `from`, of the elements
/// of the operand `from` that determine them. Example: in x + y, the elements
/// of the result with index 1 depend only on elements of x with index 1.
/// Returns nullopt if elements with any index may determine them: if
/// `component` is nullopt, if `op` is a transpose or a slice, which may move
/// elements to another index, or if the last dims of `from` and of the result
/// differ in size or do not exist.
static std::optional<int64_t> componentOf(Operation *op, Value from,
                                          std::optional<int64_t> component) {
  auto given = graph::tensorType(from).getShape(),
       made = graph::tensorType(op->getResult(0)).getShape();
  const bool isSame =
      !given.empty() && !made.empty() && given.back() == made.back();
  return isSame && !isa<graph::TransposeOp, graph::SliceOp>(op) ? component
                                                                : std::nullopt;
}

Range IntegerRanges::of(Value value, std::optional<int64_t> component) {
  const std::pair<Value, int64_t> key(value, component.value_or(-1));
  if (auto found = known.find(key); found != known.end())
    return found->second;
  const Range range = compute(value, component);
  known[key] = range;
  return range;
}

Range IntegerRanges::compute(Value value, std::optional<int64_t> component) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<IntegerType>(graph::tensorType(value).getElementType()))
    return std::nullopt;
  if (auto constant = dyn_cast<graph::ConstantOp>(op))
    return rangeOf(constant, component);
  auto shape = graph::tensorType(value).getShape();
  if (auto iota = dyn_cast<graph::IotaOp>(op))
    return IntegerRange{0, shape[iota.getDim()] - 1};
  if (auto arg = dyn_cast<graph::ArgReduceOp>(op))
    return IntegerRange{
        0, graph::tensorType(arg.getInput()).getDimSize(arg.getDim()) - 1};
  if (auto top = dyn_cast<graph::TopKOp>(op); top && value == top.getIndices())
    return IntegerRange{
        0, graph::tensorType(top.getInput()).getDimSize(top.getDim()) - 1};
  if (auto concat = dyn_cast<graph::ConcatOp>(op)) {
    if (component && concat.getDim() + 1 == shape.size())
      for (Value operand : op->getOperands()) {
        const int64_t size = graph::tensorType(operand).getShape().back();
        if (*component < size)
          return of(operand, component);
        *component -= size;
      }
    Range range = of(op->getOperand(0));
    for (Value operand : llvm::drop_begin(op->getOperands()))
      range = united(range, of(operand));
    return range;
  }
  if (isa<dist::ReshardOp, dist::PinOp, pipe::TransferOp>(op))
    return of(op->getOperand(0), component);
  if (graph::laysOutOperand(op))
    return of(op->getOperand(0), componentOf(op, op->getOperand(0), component));
  if (isa<graph::GatherOp, graph::GatherElementsOp>(op))
    return of(op->getOperand(0));
  if (!op->hasTrait<graph::IsElementWise>())
    return std::nullopt;
  auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
    return of(operand, componentOf(op, operand, component));
  });
  return rangeOfElementWise(op, operands);
}
