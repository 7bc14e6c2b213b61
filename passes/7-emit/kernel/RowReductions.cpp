//===- RowReductions.cpp - reductions, softmaxes and norms of a row -------===//

#include "passes/7-emit/kernel/RowReductions.h"
#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/MathFunctions.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::emit;

using Values = SmallVector<Value>;

static Type elementOf(Value tensor) {
  return tensorType(tensor).getElementType();
}
/// Returns whether elements of type `element` compare as unsigned numbers. True
/// for unsigned integers and booleans.
static bool isUnsigned(Type element) {
  return element.isUnsignedInteger() || element.isInteger(1);
}

/// Function that emits one step of a fold: combines the value so far with one
/// more value.
using Combine = function_ref<Value(ScalarBuilder &, Value, Value)>;

/// Emits a fold (sum, maximum, ...) over a row, a set of elements reduced
/// together. `w.outer` selects the row. `elementAt` emits an element, and
/// `combine` one step. Several threads may share the row, so `combine` must be
/// associative. `start` must be its neutral element (0 for a sum).
static Value fold(KernelWriter &w, Value start,
                  function_ref<Value(ArrayRef<Index>)> elementAt,
                  Combine combine) {
  auto join = [&](Value so, Value other) {
    ScalarBuilder s = w.scalar();
    return Values{combine(s, so, other)};
  };
  return w.foldRow(
      {start},
      [&](ArrayRef<Index> inner, ValueRange so) {
        return join(so[0], elementAt(inner));
      },
      [&](ValueRange a, ValueRange b) { return join(a[0], b[0]); })[0];
}

/// Emits a fold (sum, maximum, ...) over a row of `tensor`, a set of elements
/// reduced together. `w.outer` selects the row. `combine` emits one step, and
/// `start` is its neutral element (0 for a sum).
static Value fold(KernelWriter &w, Value tensor, Value start, Combine combine) {
  auto element = [&](ArrayRef<Index> inner) {
    return w.read(tensor, w.rowPlace(inner));
  };
  return fold(w, start, element, combine);
}

static Value addUp(ScalarBuilder &s, Value sum, Value x) {
  return s.accumulate(sum, x);
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

/// Emits the smallest (`least` is true) or largest value of the type `element`.
/// For floats this is −∞ or ∞.
static Value extreme(ScalarBuilder &s, Type element, bool least) {
  Type type = computeType(element);
  if (isa<FloatType>(type))
    return s.number(type, least ? -HUGE_VAL : HUGE_VAL);
  unsigned width = type.getIntOrFloatBitWidth();
  APInt value = isUnsigned(element) ? (least ? APInt::getMinValue(width)
                                             : APInt::getMaxValue(width))
                                    : (least ? APInt::getSignedMinValue(width)
                                             : APInt::getSignedMaxValue(width));
  return arith::ConstantOp::create(s.builder, s.loc,
                                   IntegerAttr::get(type, value));
}

/// Emits the largest (`largest` is true) or smallest element of a row of
/// `tensor`, a set of elements reduced together. `w.outer` selects the row.
static Value foldExtreme(KernelWriter &w, Value tensor, bool largest) {
  ScalarBuilder s = w.scalar();
  Type element = elementOf(tensor);
  return fold(w, tensor, extreme(s, element, /*least=*/largest),
              [&](ScalarBuilder &s, Value so, Value x) {
                return largest ? s.larger(so, x, isUnsigned(element))
                               : s.smaller(so, x, isUnsigned(element));
              });
}

/// Emits the sum of a row of `tensor`, a set of elements reduced together.
/// `w.outer` selects the row.
static Value foldSum(KernelWriter &w, Value tensor) {
  Type type = computeType(elementOf(tensor));
  return fold(w, tensor, w.scalar().zero(type), addUp);
}

/// Emits the mean of a row from `sum`. Divides by the `divisor` of `op` if it
/// has one, else by the number of elements. A mean of integers is rounded
/// towards zero, and is 0 if the divisor is 0.
static Value meanOf(KernelWriter &w, ReduceOp op, Value sum) {
  ScalarBuilder s = w.scalar();
  int64_t divisor = op.getDivisor().value_or(w.rows.innerSize());
  Type type = sum.getType();
  if (isa<FloatType>(type))
    return s.divide(sum, s.number(type, divisor));
  if (divisor == 0)
    return s.zero(type);
  Value count = s.integer(type, divisor);
  if (isUnsigned(elementOf(op.getInput())))
    return arith::DivUIOp::create(w.builder, w.loc, sum, count);
  return arith::DivSIOp::create(w.builder, w.loc, sum, count);
}

/// Returns whether `op` adds up elements: true for sums and means.
static bool adds(ReduceOp op) {
  return op.getKind() == ReduceKind::Sum || op.getKind() == ReduceKind::Mean;
}

Value pcc::emit::initialValueOf(KernelWriter &w, ReduceOp op) {
  ScalarBuilder s = w.scalar();
  Type element = elementOf(op.getInput()), type = computeType(element);
  if (adds(op))
    return s.zero(type);
  if (op.getKind() == ReduceKind::Prod)
    return isa<FloatType>(type) ? s.number(type, 1) : s.integer(type, 1);
  return extreme(s, element, /*least=*/op.getKind() == ReduceKind::Max);
}

Value pcc::emit::combine(KernelWriter &w, ReduceOp op, Value so,
                         Value element) {
  ScalarBuilder s = w.scalar();
  const bool inOrder = w.rows.isByColumns();
  const bool noSign = isUnsigned(elementOf(op.getInput()));
  switch (op.getKind()) {
  case ReduceKind::Max:
    return s.larger(so, element, noSign);
  case ReduceKind::Min:
    return s.smaller(so, element, noSign);
  case ReduceKind::Prod:
    return inOrder ? s.mul(so, element) : s.accumulateProduct(so, element);
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return inOrder ? s.add(so, element) : s.accumulate(so, element);
  }
  llvm_unreachable("unknown kind of reduction");
}

Value pcc::emit::finish(KernelWriter &w, ReduceOp op, Value value) {
  return op.getKind() == ReduceKind::Mean ? meanOf(w, op, value) : value;
}

/// Emits the reduction `op` of a row, a set of elements reduced together.
/// `w.outer` selects the row. Stores the result in `w.statistics`.
static void reduceRow(KernelWriter &w, Operation *op) {
  auto reduce = cast<ReduceOp>(op);
  Value input = reduce.getInput();
  // For a sum or product, first compute all elements of the row into a buffer.
  // The loop that adds them up then has equal code in every kernel. LLVM
  // vectorizes it in one way, so that equal sums have equal bits.
  const bool hasOrder = adds(reduce) || reduce.getKind() == ReduceKind::Prod;
  if (hasOrder || !input.hasOneUse())
    w.keepRow(input);
  Value result = fold(w, input, initialValueOf(w, reduce),
                      [&](ScalarBuilder &, Value so, Value element) {
                        return combine(w, reduce, so, element);
                      });
  w.statistics[op] = {finish(w, reduce, result)};
}

//===----------------------------------------------------------------------===//
// arg_reduce
//===----------------------------------------------------------------------===//

/// Emits whether element `a` is better than `b` in an arg-reduction: larger or
/// smaller, according to `largest`. A NaN is better than every number.
static Value beats(ScalarBuilder &s, Value a, Value b, bool largest,
                   bool isUnsigned) {
  if (!isa<FloatType>(a.getType())) {
    using P = arith::CmpIPredicate;
    return s.compare(isUnsigned ? (largest ? P::ugt : P::ult)
                                : (largest ? P::sgt : P::slt),
                     a, b);
  }
  using P = arith::CmpFPredicate;
  Value aIsNan = s.compare(P::UNO, a, a), bIsNumber = s.compare(P::ORD, b, b);
  Value isMore = s.compare(P::OGT, largest ? a : b, largest ? b : a);
  return s.either(isMore, s.both(aIsNan, bIsNumber));
}

/// Emits an arg-reduction of a row, a set of elements reduced together.
/// `w.outer` selects the row. Stores the index of the largest or smallest
/// element in `w.statistics`.
static void argReduceRow(KernelWriter &w, Operation *op) {
  auto reduce = cast<ArgReduceOp>(op);
  Value input = reduce.getInput();
  bool largest = reduce.getKind() == ReduceKind::Max, last = reduce.getLast();
  bool noSign = isUnsigned(elementOf(input));
  Value first = w.read(input, w.rowPlace({IndexSpace::constant(0)}));
  Value zero = w.scalar().integer(w.builder.getI64Type(), 0);
  auto take = [&](Value wins, ValueRange other, ValueRange best) {
    ScalarBuilder s = w.scalar();
    return Values{s.select(wins, other[0], best[0]),
                  s.select(wins, other[1], best[1])};
  };
  auto body = [&](ArrayRef<Index> inner, ValueRange best) {
    Value x = w.read(input, w.rowPlace(inner));
    Value at = w.materialise(inner[0]);
    ScalarBuilder s = w.scalar();
    Value wins = last ? s.exclusive(beats(s, best[0], x, largest, noSign),
                                    s.boolean(true))
                      : beats(s, x, best[0], largest, noSign);
    return take(wins, {x, at}, best);
  };
  // Merge the results of two threads, each an element and its index. If the
  // elements are equal, take the larger index if `last` is true, and the
  // smaller index if it is false.
  auto merge = [&](ValueRange best, ValueRange other) {
    ScalarBuilder s = w.scalar();
    Value isMore = beats(s, other[0], best[0], largest, noSign);
    Value isLess = beats(s, best[0], other[0], largest, noSign);
    Value isBeyond =
        s.compare(last ? arith::CmpIPredicate::sgt : arith::CmpIPredicate::slt,
                  other[1], best[1]);
    Value wins = s.either(
        isMore, s.both(s.exclusive(isLess, s.boolean(true)), isBeyond));
    return take(wins, other, best);
  };
  w.statistics[op] = {w.foldRow({first, zero}, body, merge)[1]};
}

//===----------------------------------------------------------------------===//
// Softmaxes
//===----------------------------------------------------------------------===//

/// Emits e^(x − top), where x is the element of `input` at `at`.
static Value shiftedExp(KernelWriter &w, Value input, Value top,
                        ArrayRef<Index> at) {
  Value x = w.read(input, at);
  ScalarBuilder s = w.scalar();
  return exponential(s, s.sub(x, top));
}

/// Emits the values of a softmax that depend on a whole row, a set of elements
/// reduced together. `w.outer` selects the row. Stores the values in
/// `w.statistics`:
///
///   softmax       maximum, 1 / sum of exponentials, and a stack buffer with
///                 the exponentials (no buffer for a very long row)
///   log_softmax   maximum, logarithm of the sum of exponentials
static void softmaxRow(KernelWriter &w, Operation *op) {
  Value input = op->getOperand(0);
  w.keepRow(input);
  Value top = foldExtreme(w, input, /*largest=*/true);
  bool isLogarithm = isa<LogSoftmaxOp>(op);
  Value buffer = isLogarithm ? Value() : w.allocateRow(top.getType());
  auto powerAt = [&](ArrayRef<Index> inner) {
    Value power = shiftedExp(w, input, top, w.rowPlace(inner));
    if (buffer)
      w.storeInRow(buffer, inner, power);
    return power;
  };
  ScalarBuilder s = w.scalar();
  Value sum = fold(w, s.zero(top.getType()), powerAt, addUp);
  Value second = isLogarithm ? logarithm(s, sum)
                             : s.divide(s.number(sum.getType(), 1), sum);
  w.statistics[op] = {top, second};
  if (buffer)
    w.statistics[op].push_back(buffer);
}

/// Emits an element of a softmax: an exponential divided by the sum of
/// exponentials. Loads the exponential if softmaxRow() has stored it in this
/// thread's stack buffer. Otherwise computes it again.
static Value readSoftmax(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  Values row = w.statistics[op];
  Value power;
  if (row.size() > 2)
    power = w.loadFromRow(row[2], row[0].getType(), w.innerOf(at));
  if (!power)
    power = shiftedExp(w, op->getOperand(0), row[0], at);
  return w.scalar().mul(power, row[1]);
}

static Value readLogSoftmax(KernelWriter &w, Operation *op,
                            ArrayRef<Index> at) {
  Values row = w.statistics[op];
  Value x = w.read(op->getOperand(0), at);
  ScalarBuilder s = w.scalar();
  return s.sub(s.sub(x, row[0]), row[1]);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Emits Σ (x − centre)² over the elements x of a row of `input`, a set of
/// elements reduced together. `w.outer` selects the row. A null `centre` means
/// 0.
static Value sumOfSquares(KernelWriter &w, Value input, Value centre) {
  auto squareAt = [&](ArrayRef<Index> inner) {
    Value x = w.read(input, w.rowPlace(inner));
    ScalarBuilder s = w.scalar();
    if (centre)
      x = s.sub(x, centre);
    return s.mul(x, x);
  };
  Type type = computeType(elementOf(input));
  return fold(w, w.scalar().zero(type), squareAt, addUp);
}

/// Emits 1 / sqrt(sum / size + epsilon). `sum` is the sum of squares of a row
/// of `size` elements.
static Value normFactor(KernelWriter &w, Value sum, double epsilon) {
  ScalarBuilder s = w.scalar();
  Type type = sum.getType();
  Value mean = s.divide(sum, s.number(type, w.rows.innerSize()));
  return s.divide(s.number(type, 1),
                  squareRoot(s, s.add(mean, s.number(type, epsilon))));
}

/// Emits the values of a layer_norm that depend on a whole row, the elements
/// that are normalized together. `w.outer` selects the row. Stores two values
/// in `w.statistics`: 1 / sqrt(variance + epsilon), then the mean.
static void layerNormRow(KernelWriter &w, Operation *op) {
  auto norm = cast<LayerNormOp>(op);
  w.keepRow(norm.getInput());
  Value sum = foldSum(w, norm.getInput());
  ScalarBuilder s = w.scalar();
  Value mean = s.divide(sum, s.number(sum.getType(), w.rows.innerSize()));
  Value squares = sumOfSquares(w, norm.getInput(), mean);
  Value factor = normFactor(w, squares, norm.getEpsilon().convertToDouble());
  w.statistics[op] = {factor, mean};
}

/// Emits 1 / sqrt(mean of squares + epsilon) of a row, the elements that an
/// rms_norm normalizes together. `w.outer` selects the row. Stores the value in
/// `w.statistics`.
static void rmsNormRow(KernelWriter &w, Operation *op) {
  auto norm = cast<RmsNormOp>(op);
  w.keepRow(norm.getInput());
  Value squares = sumOfSquares(w, norm.getInput(), {});
  w.statistics[op] = {
      normFactor(w, squares, norm.getEpsilon().convertToDouble())};
}

/// Emits an element of a norm:
///
///   layer_norm   (x − mean) / sqrt(variance + epsilon) · scale + bias
///   rms_norm     x / sqrt(mean of squares + epsilon) · scale
///
/// The bias is optional.
static Value readNorm(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  Values row = w.statistics[op];
  Value x = w.read(op->getOperand(0), at);
  ScalarBuilder s = w.scalar();
  if (row.size() > 1)
    x = s.sub(x, row[1]);
  x = s.mul(s.mul(x, row[0]), w.readBroadcast(op->getOperand(1), at));
  return op->getNumOperands() > 2
             ? s.add(x, w.readBroadcast(op->getOperand(2), at))
             : x;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static Value readStatistic(KernelWriter &w, Operation *op, ArrayRef<Index>) {
  return w.statistics[op][0];
}

void pcc::emit::addRowReads(ReadTable &table) {
  table.add<ReduceOp>(readStatistic);
  table.add<ArgReduceOp>(readStatistic);
  table.add<SoftmaxOp>(readSoftmax);
  table.add<LogSoftmaxOp>(readLogSoftmax);
  table.add<LayerNormOp>(readNorm);
  table.add<RmsNormOp>(readNorm);
}

/// Emits the values of `op` that depend on a whole row (set of elements reduced
/// together), such as a sum or maximum. `w.outer` selects the row. Stores the
/// values in `w.statistics`. Emits nothing if `op` is no reduction,
/// arg-reduction, softmax or norm.
static void writeStatistics(KernelWriter &w, Operation *op) {
  using Write = void (*)(KernelWriter &, Operation *);
  static const llvm::DenseMap<TypeID, Write> table = {
      {TypeID::get<ReduceOp>(), reduceRow},
      {TypeID::get<ArgReduceOp>(), argReduceRow},
      {TypeID::get<SoftmaxOp>(), softmaxRow},
      {TypeID::get<LogSoftmaxOp>(), softmaxRow},
      {TypeID::get<LayerNormOp>(), layerNormRow},
      {TypeID::get<RmsNormOp>(), rmsNormRow}};
  auto info = op->getName().getRegisteredInfo();
  if (Write write = info ? table.lookup(info->getTypeID()) : nullptr)
    write(w, op);
}

void pcc::emit::writeRow(KernelWriter &w, rank::KernelOp kernel,
                         const KernelPlan &plan, ArrayRef<Value> outputs,
                         const Index &iteration) {
  w.rows = *plan.rows;
  w.outer = w.indices.delinearise(iteration, w.rows.outerShape());
  for (Operation &op : kernel.getBody().front())
    writeStatistics(w, &op);
  SmallVector<std::pair<Value, Value>> perElement, perRow;
  for (auto [result, output] :
       llvm::zip_equal(kernel.getYield().getResults(), outputs))
    (isPerElement(result, w.rows) ? perElement : perRow)
        .push_back({result, output});
  w.storeRow([&] {
    if (!perRow.empty())
      w.once([&] {
        for (auto [result, output] : perRow)
          w.storeResult(
              result, output,
              w.indices.delinearise(iteration, tensorType(result).getShape()));
      });
    if (!perElement.empty())
      w.overRow([&](ArrayRef<Index> inner) {
        for (auto [result, output] : perElement)
          w.storeResult(result, output, w.rowPlace(inner));
      });
  });
}
