//===- ElementWise.cpp - code of element-wise ops and random numbers ------===//

#include "dialects/graph/GraphDialect.h"
#include "passes/7-emit/kernel/Writer.h"

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::emit;

using FloatPredicate = arith::CmpFPredicate;
using IntPredicate = arith::CmpIPredicate;

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }

static Type elementOf(Value tensor) {
  return tensorType(tensor).getElementType();
}
/// Returns whether the elements of `tensor` compare as unsigned numbers. True
/// for unsigned integers and booleans.
static bool isUnsigned(Value tensor) {
  return elementOf(tensor).isUnsignedInteger() ||
         elementOf(tensor).isInteger(1);
}

/// Emits the computation of the element at multi-index `at` of the result of
/// `op`, which has one operand. Reads the element at `at` of the operand as an
/// SSA value x. Calls the function F(s, x, op), which emits the scalar
/// arithmetic with the builder `s`, such as −x. Returns the SSA value that `F`
/// returns.
template <auto F>
static Value unary(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  ScalarBuilder s = w.scalar();
  return F(s, w.read(op->getOperand(0), at), op);
}

/// Emits the element at `at` of the result of `op`, which has two operands.
/// Reads one element of each operand, with NumPy broadcasting. `F` emits the
/// scalar arithmetic, such as x + y.
template <auto F>
static Value binary(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  Value lhs = w.readBroadcast(op->getOperand(0), at);
  Value rhs = w.readBroadcast(op->getOperand(1), at);
  ScalarBuilder s = w.scalar();
  return F(s, lhs, rhs, op);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static Value absolute(ScalarBuilder &s, Value x, Operation *op) {
  if (isFloat(x))
    return math::AbsFOp::create(s.builder, s.loc, x);
  if (isUnsigned(op->getOperand(0)))
    return x;
  Value negative = s.compare(IntPredicate::slt, x, s.zero(x.getType()));
  return s.select(negative, s.neg(x), x);
}

/// Emits the sign of `x`: −1, 0 or 1. A NaN gives NaN, and −0 gives −0.
static Value sign(ScalarBuilder &s, Value x, Operation *op) {
  Type type = x.getType();
  Value zero = s.zero(type);
  if (isFloat(x)) {
    Value below = s.select(s.compare(FloatPredicate::OGT, zero, x),
                           s.number(type, -1), x);
    return s.select(s.compare(FloatPredicate::OGT, x, zero), s.number(type, 1),
                    below);
  }
  Value one = s.integer(type, 1);
  if (isUnsigned(op->getOperand(0)))
    return s.select(s.compare(IntPredicate::ne, x, zero), one, zero);
  Value below = s.select(s.compare(IntPredicate::slt, x, zero),
                         s.integer(type, -1), zero);
  return s.select(s.compare(IntPredicate::sgt, x, zero), one, below);
}

static Value relu(ScalarBuilder &s, Value x, Operation *op) {
  return s.larger(x, s.zero(x.getType()), isUnsigned(op->getOperand(0)));
}

/// Emits a divisor that cannot trap: 1 if `b` is 0 or a signed −1, else `b`.
/// (The smallest integer divided by −1 overflows.)
static Value safeDivisor(ScalarBuilder &s, Value b, bool isUnsigned) {
  Type type = b.getType();
  Value unsafe = s.compare(IntPredicate::eq, b, s.zero(type));
  if (!isUnsigned)
    unsafe =
        s.either(unsafe, s.compare(IntPredicate::eq, b, s.integer(type, -1)));
  return s.select(unsafe, s.integer(type, 1), b);
}

/// Emits the quotient a / b. For integers, a / 0 is 0, and a / −1 is −a, which
/// wraps around for the smallest integer.
static Value divide(ScalarBuilder &s, Value a, Value b, Operation *op) {
  if (isFloat(a))
    return s.divide(a, b);
  Type type = a.getType();
  Value isZero = s.compare(IntPredicate::eq, b, s.zero(type));
  bool noSign = isUnsigned(op->getOperand(0));
  Value divisor = safeDivisor(s, b, noSign);
  if (noSign)
    return s.select(isZero, s.zero(type),
                    arith::DivUIOp::create(s.builder, s.loc, a, divisor));
  Value quotient = arith::DivSIOp::create(s.builder, s.loc, a, divisor);
  Value isMinusOne = s.compare(IntPredicate::eq, b, s.integer(type, -1));
  return s.select(isZero, s.zero(type),
                  s.select(isMinusOne, s.neg(a), quotient));
}

/// Converts `rest`, a remainder of a division by `b`, to the sign of `b`.
/// Example: −1 % 3 is −1, and becomes 2.
static Value withSignOf(ScalarBuilder &s, Value rest, Value b) {
  Value zero = s.zero(rest.getType());
  auto below = [&](Value x) {
    return isFloat(x) ? s.compare(FloatPredicate::OGT, zero, x)
                      : s.compare(IntPredicate::slt, x, zero);
  };
  Value isNotZero = isFloat(rest) ? s.compare(FloatPredicate::UNE, rest, zero)
                                  : s.compare(IntPredicate::ne, rest, zero);
  Value differs = s.exclusive(below(rest), below(b));
  return s.select(s.both(isNotZero, differs), s.add(rest, b), rest);
}

/// Emits the remainder of a / b. It has the sign of `b`, or of `a` if the op is
/// marked `truncated`. For integers, the remainder of a division by 0 is 0.
static Value remainderOf(ScalarBuilder &s, Value a, Value b, Operation *op) {
  bool truncated = cast<ModOp>(op).getTruncated();
  if (isFloat(a)) {
    Value rest = s.libm("fmod", {a, b});
    return truncated ? rest : withSignOf(s, rest, b);
  }
  Value isZero = s.compare(IntPredicate::eq, b, s.zero(b.getType()));
  bool noSign = isUnsigned(op->getOperand(0));
  Value divisor = safeDivisor(s, b, noSign);
  Value rest =
      noSign ? arith::RemUIOp::create(s.builder, s.loc, a, divisor).getResult()
             : arith::RemSIOp::create(s.builder, s.loc, a, divisor).getResult();
  rest = s.select(isZero, s.zero(a.getType()), rest);
  return truncated || noSign ? rest : withSignOf(s, rest, b);
}

/// Adds the arithmetic ops, such as graph.add, to `table`. The table maps each
/// kind of op to a function. The function emits the code that computes one
/// element of the result of an op of this kind.
static void addArithmetic(ReadTable &table) {
  using S = ScalarBuilder;
  using O = Operation;
  table.add<NegOp>(unary<[](S &s, Value x, O *) { return s.neg(x); }>);
  table.add<AbsOp>(unary<absolute>);
  table.add<SignOp>(unary<sign>);
  table.add<ReluOp>(unary<relu>);
  table.add<AddOp>(
      binary<[](S &s, Value a, Value b, O *) { return s.add(a, b); }>);
  table.add<SubOp>(
      binary<[](S &s, Value a, Value b, O *) { return s.sub(a, b); }>);
  table.add<MulOp>(
      binary<[](S &s, Value a, Value b, O *) { return s.mul(a, b); }>);
  table.add<MaxOp>(binary<[](S &s, Value a, Value b, O *op) {
    return s.larger(a, b, isUnsigned(op->getOperand(0)));
  }>);
  table.add<MinOp>(binary<[](S &s, Value a, Value b, O *op) {
    return s.smaller(a, b, isUnsigned(op->getOperand(0)));
  }>);
  table.add<DivOp>(binary<divide>);
  table.add<ModOp>(binary<remainderOf>);
}

//===----------------------------------------------------------------------===//
// Tests and logic
//===----------------------------------------------------------------------===//

/// Emits the comparison of `a` and `b` by the predicate of `op`. Emits a < b as
/// b > a, and a ≤ b as b ≥ a.
static Value compare(ScalarBuilder &s, Value a, Value b, Operation *op) {
  auto predicate = cast<CompareOp>(op).getPredicate();
  bool isEqual = predicate == Predicate::Equal;
  bool orEqual = predicate == Predicate::LessOrEqual ||
                 predicate == Predicate::GreaterOrEqual;
  if (predicate == Predicate::Less || predicate == Predicate::LessOrEqual)
    std::swap(a, b);
  if (isFloat(a))
    return s.compare(isEqual   ? FloatPredicate::OEQ
                     : orEqual ? FloatPredicate::OGE
                               : FloatPredicate::OGT,
                     a, b);
  bool noSign = isUnsigned(op->getOperand(0));
  IntPredicate greater = noSign ? IntPredicate::ugt : IntPredicate::sgt,
               greaterOrEqual = noSign ? IntPredicate::uge : IntPredicate::sge;
  return s.compare(isEqual   ? IntPredicate::eq
                   : orEqual ? greaterOrEqual
                             : greater,
                   a, b);
}

static Value isNan(ScalarBuilder &s, Value x, Operation *) {
  return isFloat(x) ? s.compare(FloatPredicate::UNO, x, x) : s.boolean(false);
}

/// Emits whether `x` is infinite. Attributes of `op` select −∞, ∞ or both.
static Value isInfinite(ScalarBuilder &s, Value x, Operation *op) {
  auto test = cast<IsInfOp>(op);
  Value result = s.boolean(false);
  auto orEqual = [&](double infinity) {
    result = s.either(result, s.compare(FloatPredicate::OEQ, x,
                                        s.number(x.getType(), infinity)));
  };
  if (isFloat(x) && test.getPositive())
    orEqual(HUGE_VAL);
  if (isFloat(x) && test.getNegative())
    orEqual(-HUGE_VAL);
  return result;
}

static Value select(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  Value condition = w.readBroadcast(op->getOperand(0), at);
  Value onTrue = w.readBroadcast(op->getOperand(1), at);
  Value onFalse = w.readBroadcast(op->getOperand(2), at);
  return w.scalar().select(condition, onTrue, onFalse);
}

static Value castElement(ScalarBuilder &s, Value x, Operation *op) {
  return s.convert(x, elementOf(op->getOperand(0)),
                   elementOf(op->getResult(0)));
}

/// Adds logic ops, comparisons, select, cast, and the tests for NaN and for
/// infinity to `table`. The table maps each kind of op to a function. The
/// function emits the code that computes one element of the result of an op of
/// this kind.
static void addLogic(ReadTable &table) {
  using S = ScalarBuilder;
  using O = Operation;
  ReadFunction both =
      binary<[](S &s, Value a, Value b, O *) { return s.both(a, b); }>;
  ReadFunction either =
      binary<[](S &s, Value a, Value b, O *) { return s.either(a, b); }>;
  ReadFunction exclusive =
      binary<[](S &s, Value a, Value b, O *) { return s.exclusive(a, b); }>;
  table.add<AndOp>(both);
  table.add<BitAndOp>(both);
  table.add<OrOp>(either);
  table.add<BitOrOp>(either);
  table.add<XorOp>(exclusive);
  table.add<BitXorOp>(exclusive);
  table.add<NotOp>(unary<[](S &s, Value x, O *) {
    return s.exclusive(x, s.integer(x.getType(), -1));
  }>);
  table.add<CompareOp>(binary<compare>);
  table.add<IsNanOp>(unary<isNan>);
  table.add<IsInfOp>(unary<isInfinite>);
  table.add<SelectOp>(select);
  table.add<CastOp>(unary<castElement>);
}

//===----------------------------------------------------------------------===//
// Random numbers
//===----------------------------------------------------------------------===//

/// Emits the upper 32 bits of an i64, as an i64.
static Value highWord(ScalarBuilder &s, Value number) {
  return arith::ShRUIOp::create(s.builder, s.loc, number,
                                s.integer(number.getType(), 32));
}
/// Emits the lower 32 bits of an i64, as an i64.
static Value lowWord(ScalarBuilder &s, Value number) {
  return s.both(number, s.integer(number.getType(), 0xFFFFFFFF));
}

/// Emits the first of four result words of the random number generator Philox
/// 4x32-10 (Salmon et al. 2011), as in dialects/graph/reference/Philox.h. `key`
/// is the key of the random op. A word is held in an i64 and is below 2^32, so
/// that the product of two words is exact.
static Value philox(ScalarBuilder &s, std::array<Value, 4> counter,
                    uint64_t key) {
  auto [a, b, c, d] = counter;
  Type i64 = a.getType();
  uint32_t first = static_cast<uint32_t>(key),
           second = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    Value left = s.mul(a, s.integer(i64, 0xD2511F53)),
          right = s.mul(c, s.integer(i64, 0xCD9E8D57));
    a = s.exclusive(s.exclusive(highWord(s, right), b), s.integer(i64, first));
    b = lowWord(s, right);
    c = s.exclusive(s.exclusive(highWord(s, left), d), s.integer(i64, second));
    d = lowWord(s, left);
    first += 0x9E3779B9;
    second += 0xBB67AE85;
  }
  return a;
}

/// Emits a random f32 in [0, 1), one element of the result of a graph.random.
/// It is the upper 24 bits of the first word of Philox, divided by 2^24.
/// `index` and `step` form the counter, and an attribute of `op` is the key.
static Value uniform(ScalarBuilder &s, Value index, Value step, Operation *op) {
  Value word = philox(s,
                      {lowWord(s, index), highWord(s, index), lowWord(s, step),
                       highWord(s, step)},
                      cast<RandomOp>(op).getKey());
  Type i64 = index.getType(), i32 = s.builder.getI32Type(),
       f32 = s.builder.getF32Type();
  Value bits =
      arith::ShRUIOp::create(s.builder, s.loc, word, s.integer(i64, 8));
  Value number = s.convert(s.convert(bits, i64, i32), i32, f32);
  return s.mul(number, s.number(f32, 1.0 / (1 << 24)));
}

void pcc::emit::addElementWiseReads(ReadTable &table) {
  addArithmetic(table);
  addLogic(table);
  table.add<RandomOp>(binary<uniform>);
}
