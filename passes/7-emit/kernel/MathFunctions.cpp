//===- MathFunctions.cpp - transcendental functions of one element --------===//

#include "passes/7-emit/kernel/MathFunctions.h"
#include "dialects/graph/GraphDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/7-emit/kernel/Writer.h"
#include <cassert>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace pcc::graph;
using namespace pcc::emit;

/// Emits a function of `x`: the op `Op` for f32, or a call of the libm function
/// `libm` for f64. For CPUs, expandForProcessors() later replaces the op by a
/// polynomial.
template <typename Op>
static Value polynomialOr(StringRef libm, ScalarBuilder &s, Value x) {
  if (x.getType().isF32())
    return Op::create(s.builder, s.loc, x);
  return s.libm(libm, {x});
}

Value pcc::emit::exponential(ScalarBuilder &s, Value x) {
  assert((x.getType().isF32() || x.getType().isF64()) && "f32 or f64");
  return polynomialOr<math::ExpOp>("exp", s, x);
}
/// The polynomial for f32 takes a denormal number for the smallest normal one.
/// Therefore computes log(2^24 · x) − 24 · log(2) for these.
Value pcc::emit::logarithm(ScalarBuilder &s, Value x) {
  Type type = x.getType();
  if (!type.isF32())
    return s.libm("log", {x});
  Value isDenormal =
      s.compare(arith::CmpFPredicate::ULT, x,
                s.number(type, std::numeric_limits<float>::min()));
  Value scaled = s.select(isDenormal, s.mul(x, s.number(type, 0x1p24)), x);
  Value log = math::LogOp::create(s.builder, s.loc, scaled);
  return s.select(isDenormal, s.sub(log, s.number(type, 24 * M_LN2)), log);
}
Value pcc::emit::squareRoot(ScalarBuilder &s, Value x) {
  return math::SqrtOp::create(s.builder, s.loc, x);
}

static Value one(ScalarBuilder &s, Value x) { return s.number(x.getType(), 1); }

/// Emits the sigmoid of `x`, 1 / (1 + e^−x).
static Value sigmoid(ScalarBuilder &s, Value x) {
  return s.divide(one(s, x), s.add(one(s, x), exponential(s, s.neg(x))));
}

/// Emits the softplus of `x`, log(1 + e^x), as max(x, 0) + log(1 + e^−|x|),
/// which cannot overflow.
static Value softplus(ScalarBuilder &s, Value x) {
  Value magnitude = math::AbsFOp::create(s.builder, s.loc, x);
  Value rest =
      polynomialOr<math::Log1pOp>("log1p", s, exponential(s, s.neg(magnitude)));
  return s.add(s.larger(x, s.zero(x.getType()), /*isUnsigned=*/false), rest);
}

/// Emits the gelu of `x`: 0.5 x (1 + erf(slope · x)). If `op` has the attribute
/// `tanh`, emits 0.5 x (1 + tanh(slope · (x + cubic · x³))). `slope` and
/// `cubic` are optional attributes of `op`.
static Value gelu(ScalarBuilder &s, Value x, Operation *op) {
  auto gelu = cast<GeluOp>(op);
  Type type = x.getType();
  auto given = [&](std::optional<APFloat> number, double otherwise) {
    return number ? number->convertToDouble() : otherwise;
  };
  if (!gelu.getTanh()) {
    double slope = given(gelu.getSlope(), M_SQRT1_2);
    Value share =
        polynomialOr<math::ErfOp>("erf", s, s.mul(x, s.number(type, slope)));
    return s.mul(s.mul(x, s.number(type, 0.5)), s.add(one(s, x), share));
  }
  // 0.5 (1 + tanh(u)) is equal to sigmoid(2 u). `twice` is 2 u, with u =
  // slope · (x + cubic · x³).
  double slope = given(gelu.getSlope(), 0.79788456080286535588),
         cubic = given(gelu.getCubic(), 0.044715);
  Value cube = s.mul(s.mul(x, x), s.mul(x, s.number(type, cubic)));
  Value twice = s.mul(s.number(type, 2 * slope), s.add(x, cube));
  return s.mul(x, sigmoid(s, twice));
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// Emits base^exponent of two integers of one type, by repeated squaring. A
/// negative exponent gives 1 or −1 for the bases 1 and −1, and 0 for all other
/// bases.
static Value integerPower(ScalarBuilder &s, Value base, Value exponent) {
  using P = arith::CmpIPredicate;
  Type type = base.getType();
  Value zero = s.zero(type), unit = s.integer(type, 1);
  auto body = [&](OpBuilder &builder, Location loc, Value, ValueRange carried) {
    ScalarBuilder inner{builder, loc};
    Value result = carried[0], square = carried[1], rest = carried[2];
    Value isOdd = inner.compare(P::ne, inner.both(rest, unit), zero);
    Value next = inner.select(isOdd, inner.mul(result, square), result);
    Value half = arith::ShRUIOp::create(builder, loc, rest, unit);
    scf::YieldOp::create(builder, loc,
                         ValueRange{next, inner.mul(square, square), half});
  };
  Type i64 = s.builder.getI64Type();
  int64_t width = type.getIntOrFloatBitWidth();
  Value power = scf::ForOp::create(s.builder, s.loc, s.integer(i64, 0),
                                   s.integer(i64, width), s.integer(i64, 1),
                                   ValueRange{unit, base, exponent}, body)
                    .getResult(0);
  Value minus = s.integer(type, -1);
  Value isOdd = s.compare(P::ne, s.both(exponent, unit), zero);
  Value fraction = s.select(s.compare(P::eq, base, minus),
                            s.select(isOdd, minus, unit), zero);
  fraction = s.select(s.compare(P::eq, base, unit), unit, fraction);
  return s.select(s.compare(P::slt, exponent, zero), fraction, power);
}

/// Emits base^exponent without libm for a float base and a constant exponent:
/// 0.5 or an integer from −4 to 4. Otherwise returns null and emits nothing.
static Value constantPower(ScalarBuilder &s, Value base, Value exponent) {
  DenseElementsAttr attr;
  if (!isa<FloatType>(base.getType()) ||
      !matchPattern(exponent, m_Constant(&attr)) || !attr.isSplat())
    return {};
  double power = isa<FloatType>(attr.getElementType())
                     ? attr.getSplatValue<APFloat>().convertToDouble()
                     : double(attr.getSplatValue<APInt>().getSExtValue());
  if (power == 0.5)
    return squareRoot(s, base);
  double magnitude = std::fabs(power);
  if (magnitude > 4 || magnitude != std::floor(magnitude))
    return {};
  Value result = one(s, base);
  for (int i = 0; i < magnitude; ++i)
    result = i ? s.mul(result, base) : base;
  return power < 0 ? s.divide(one(s, base), result) : result;
}

/// Emits the element at `at` of the result of the pow op `op`, in the type of
/// the base.
static Value power(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  ScalarBuilder s = w.scalar();
  Value base = w.readBroadcast(op->getOperand(0), at);
  if (Value product = constantPower(s, base, op->getOperand(1)))
    return product;
  Value exponent = w.readBroadcast(op->getOperand(1), at);
  Type from = tensorType(op->getOperand(0)).getElementType(),
       of = tensorType(op->getOperand(1)).getElementType();
  if (!isa<FloatType>(from) && !isa<FloatType>(of))
    return integerPower(s, base, s.convert(exponent, of, from));
  if (base.getType() == exponent.getType())
    return s.libm("pow", {base, exponent});
  Type f64 = w.builder.getF64Type();
  Value wide =
      s.libm("pow", {s.convert(base, from, f64), s.convert(exponent, of, f64)});
  return s.convert(wide, f64, from);
}

//===----------------------------------------------------------------------===//
// Table of functions
//===----------------------------------------------------------------------===//

/// Emits the computation of the element at multi-index `at` of the result of
/// `op`, which has one operand. Reads the element at `at` of the operand as an
/// SSA value x. Calls the function F(s, x), which emits the scalar arithmetic
/// with the builder `s`, such as tan(x). Returns the SSA value that `F`
/// returns.
template <auto F>
static Value function(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  Value x = w.read(op->getOperand(0), at);
  ScalarBuilder s = w.scalar();
  return F(s, x);
}

/// Emits the math op `MathOp` of `x`, which may have any float type.
template <typename MathOp> static Value intrinsic(ScalarBuilder &s, Value x) {
  return MathOp::create(s.builder, s.loc, x);
}

static Value geluAt(KernelWriter &w, Operation *op, ArrayRef<Index> at) {
  Value x = w.read(op->getOperand(0), at);
  ScalarBuilder s = w.scalar();
  return gelu(s, x, op);
}

/// Adds functions for nine ops to `table`: tan, asin, acos, atan, sinh, cosh,
/// asinh, acosh and atanh. `table` maps the class of an op to a function of the
/// compiler. The function emits the code that computes one element of the op's
/// result. For these nine ops, the code is a call of a libm function, such as
/// tan(). The argument of the call is an element of the operand.
static void addRareFunctions(ReadTable &table) {
  using S = ScalarBuilder;
  table.add<TanOp>(function<[](S &s, Value x) { return s.libm("tan", {x}); }>);
  table.add<AsinOp>(
      function<[](S &s, Value x) { return s.libm("asin", {x}); }>);
  table.add<AcosOp>(
      function<[](S &s, Value x) { return s.libm("acos", {x}); }>);
  table.add<AtanOp>(
      function<[](S &s, Value x) { return s.libm("atan", {x}); }>);
  table.add<SinhOp>(
      function<[](S &s, Value x) { return s.libm("sinh", {x}); }>);
  table.add<CoshOp>(
      function<[](S &s, Value x) { return s.libm("cosh", {x}); }>);
  table.add<AsinhOp>(
      function<[](S &s, Value x) { return s.libm("asinh", {x}); }>);
  table.add<AcoshOp>(
      function<[](S &s, Value x) { return s.libm("acosh", {x}); }>);
  table.add<AtanhOp>(
      function<[](S &s, Value x) { return s.libm("atanh", {x}); }>);
}

void pcc::emit::addFloatFunctionReads(ReadTable &table) {
  using S = ScalarBuilder;
  addRareFunctions(table);
  table.add<ExpOp>(function<exponential>);
  table.add<LogOp>(function<logarithm>);
  table.add<SqrtOp>(function<squareRoot>);
  table.add<TanhOp>(function<[](S &s, Value x) {
    return polynomialOr<math::TanhOp>("tanh", s, x);
  }>);
  table.add<ErfOp>(function<[](S &s, Value x) {
    return polynomialOr<math::ErfOp>("erf", s, x);
  }>);
  table.add<ReciprocalOp>(
      function<[](S &s, Value x) { return s.divide(one(s, x), x); }>);
  table.add<SigmoidOp>(function<sigmoid>);
  table.add<SoftplusOp>(function<softplus>);
  table.add<SinOp>(function<sine>);
  table.add<CosOp>(function<cosine>);
  table.add<FloorOp>(function<intrinsic<math::FloorOp>>);
  table.add<CeilOp>(function<intrinsic<math::CeilOp>>);
  table.add<RoundOp>(function<intrinsic<math::RoundEvenOp>>);
  table.add<PowOp>(power);
  table.add<GeluOp>(geluAt);
}
