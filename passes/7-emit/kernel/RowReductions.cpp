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

/// Function that emits the combination of two scalars a and b, such as the sum
/// a + b or the maximum of a and b. The parameters are the builder that emits
/// the code, then a, then b. Returns the result. Example: to sum up the
/// elements of a tensor, a loop executes the emitted addition once for each
/// element. a is then the sum of the previous elements, and b is the current
/// element.
using Combine = function_ref<Value(ScalarBuilder &, Value, Value)>;

/// Emits a fold, such as a sum, over one row (elements reduced together).
/// `w.outer` selects the row. `elementAt` emits one element. `start` is the
/// neutral element of `combine`. `combine` must be associative: on a GPU, it
/// also combines the results of two threads.
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

/// Emits a fold, such as a sum, over one row (elements reduced together) of
/// `tensor`. `w.outer` selects the row. `start` is the neutral element of
/// `combine`.
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

/// Emits a constant: the smallest value of the type `element` if `least` is
/// true, else the largest value. For floats, these are −∞ and ∞.
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

/// Emits the largest element of one row of `tensor` if `largest` is true, else
/// the smallest element. A row is a set of elements that are reduced together.
/// `w.outer` holds the indices of the row along the dims that are not reduced.
/// Example: `tensor` has the shape [8, 16, 32] and is reduced over dim 2, and
/// `w.outer` is [3, 7]. The row then has the 32 elements [3, 7, 0] to
/// [3, 7, 31].
static Value foldExtreme(KernelWriter &w, Value tensor, bool largest) {
  ScalarBuilder s = w.scalar();
  Type element = elementOf(tensor);
  return fold(w, tensor, extreme(s, element, /*least=*/largest),
              [&](ScalarBuilder &s, Value so, Value x) {
                return largest ? s.larger(so, x, isUnsigned(element))
                               : s.smaller(so, x, isUnsigned(element));
              });
}

/// Emits the sum of one row of `tensor`. A row is a set of elements that are
/// reduced together. `w.outer` holds the indices of the row along the dims that
/// are not reduced. Example: `tensor` has the shape [8, 16, 32] and is reduced
/// over dim 2, and `w.outer` is [3, 7]. The row then has the 32 elements
/// [3, 7, 0] to [3, 7, 31].
static Value foldSum(KernelWriter &w, Value tensor) {
  Type type = computeType(elementOf(tensor));
  return fold(w, tensor, w.scalar().zero(type), addUp);
}

/// Emits the mean of a row from `sum`, the sum of its elements. Divides by the
/// `divisor` of `op`, or else by the number of elements in the row. An integer
/// mean is rounded towards zero, and is 0 for the divisor 0.
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

/// Emits the reduction `op`, such as a sum, for one row. A row is a set of
/// elements that are reduced together. `w.outer` holds the indices of the row
/// along the dims that are not reduced. Stores the result of the reduction,
/// such as the sum of the row, in `w.statistics[op]`.
static void reduceRow(KernelWriter &w, Operation *op) {
  auto reduce = cast<ReduceOp>(op);
  Value input = reduce.getInput();
  // keepRow() stores a computed row on the stack, and the loop of fold() only
  // loads and combines the elements. This loop thus has the same code in all
  // kernels, and LLVM adds or multiplies the elements in the same order. The
  // result of a sum or a product is then bitwise equal in all kernels. For a
  // maximum or minimum, keepRow() only avoids a second computation of the row.
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

/// Emits the arg-reduction `op` for one row, which finds the index of the
/// largest or smallest element of the row. A row is a set of elements that are
/// compared with each other. `w.outer` holds the indices of the row along the
/// dims that are not reduced. Stores the found index in `w.statistics[op]`.
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
  // Merge the results of two threads: the best element and its index. For equal
  // elements, keep the larger index if `last` is true, else the smaller index.
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

/// Emits e^(x − top), where x is the element of `input` with the index `at`. A
/// row is the set of elements that a softmax normalizes together. `top` is the
/// largest element of the row that contains x. Since x − top ≤ 0, the
/// exponential cannot overflow.
static Value shiftedExp(KernelWriter &w, Value input, Value top,
                        ArrayRef<Index> at) {
  Value x = w.read(input, at);
  ScalarBuilder s = w.scalar();
  return exponential(s, s.sub(x, top));
}

/// Emits two values of the softmax or log_softmax `op` for the current row,
/// into `w.statistics[op]`. First comes m, the maximum of the row. Second comes
/// 1 / Σ e^(x − m), or log(Σ e^(x − m)) for a log_softmax. A softmax appends a
/// third value, unless the row is too large for the stack: a pointer to a stack
/// buffer with the terms of the sum.
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

/// Emits the element with the multi-index `at` of the result of the softmax
/// `op`. softmaxRow() must have emitted the statistics of the row. Loads the
/// exponential of the element from the stack buffer of softmaxRow() if it is
/// certain that the same GPU thread has stored it there. Otherwise computes the
/// exponential again.
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

/// Emits Σ (x − centre)² over all elements x of one row of `input`. A row is a
/// set of elements that are reduced together. `w.outer` holds the indices of
/// the row along the dims that are not reduced. Example: `input` is a tensor
/// [8, 16, 32] that is reduced over dim 2, and `w.outer` is [3, 7]. The row
/// then has the 32 elements [3, 7, 0] to [3, 7, 31]. A null `centre` means 0.
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

/// Emits 1 / sqrt(sum / n + epsilon), where n is the number of elements in a
/// row. `sum` is Σ (x − mean)² for a layer_norm, and Σ x² for an rms_norm.
static Value normFactor(KernelWriter &w, Value sum, double epsilon) {
  ScalarBuilder s = w.scalar();
  Type type = sum.getType();
  Value mean = s.divide(sum, s.number(type, w.rows.innerSize()));
  return s.divide(s.number(type, 1),
                  squareRoot(s, s.add(mean, s.number(type, epsilon))));
}

/// Emits the statistics of the layer_norm `op`, which are the values that
/// depend on all elements of a row. A row is a set of elements that the
/// layer_norm normalizes together. `w.outer` holds the indices of the row along
/// the dims that are not normalized. Stores two values in `w.statistics[op]`:
/// first 1 / sqrt(variance + epsilon), then the mean.
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

/// Emits the factor by which the rms_norm `op` multiplies each element of a
/// row: 1 / sqrt(m + epsilon), where m is the mean of the squares of all
/// elements in the row. A row is a set of elements that the rms_norm normalizes
/// together. `w.outer` holds the indices of the row along the dims that are not
/// normalized. Stores the factor in `w.statistics[op]`.
static void rmsNormRow(KernelWriter &w, Operation *op) {
  auto norm = cast<RmsNormOp>(op);
  w.keepRow(norm.getInput());
  Value squares = sumOfSquares(w, norm.getInput(), {});
  w.statistics[op] = {
      normFactor(w, squares, norm.getEpsilon().convertToDouble())};
}

/// Emits the element with the multi-index `at` of the result of a norm, from
/// the statistics of its row:
///
///   layer_norm   (x − mean) / sqrt(variance + epsilon) · scale + bias
///   rms_norm     x / sqrt(mean of squares + epsilon) · scale
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

/// Emits the values of `op` that depend on a whole row (elements reduced
/// together), such as its sum. Stores them in `w.statistics[op]`. `w.outer`
/// selects the row. Emits nothing if `op` is no reduction, arg-reduction,
/// softmax or norm.
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
