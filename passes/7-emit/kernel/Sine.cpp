//===- Sine.cpp - sine and cosine of one element --------------------------===//
//
// Those of f32 compute in f64, because f32 is too coarse for arguments of some
// thousands, which occur in rotary embeddings. The error before the rounding to
// f32 is below 1e-11, for arguments of any size.
//
//===----------------------------------------------------------------------===//

#include "passes/7-emit/kernel/MathFunctions.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace pcc::emit;

namespace {
/// Factors that turn an f32 of one range into a number of quarter turns, modulo
/// a whole turn: y · (parts[0] + parts[1] + parts[2]) with y = scale · x. The
/// products y · parts[0] and y · parts[1] are exact in f64.
struct Turns {
  /// Smallest magnitude of the range.
  double from;
  double scale;
  /// 1/scale · 2/π modulo 4, as a sum of a multiple of 2^-26 below 4, a
  /// multiple of 2^-54 below 2^-26, and a rest.
  std::array<double, 3> parts;
};

/// The same factors in an emitted function, for the range of its argument.
struct EmittedTurns {
  Value scale;
  std::array<Value, 3> parts;
};

/// An angle of f64 as `quarters` quarter turns, an i64, and the `rest` in
/// radians, which is between −π/4 and π/4.
struct Angle {
  Value quarters, rest;
};
} // namespace

/// Factors for the ranges of f32. The numbers of each range but the first are
/// multiples of 1/scale, and scaled they are below 2^47 (Payne and Hanek,
/// "Radian reduction for trigonometric functions", 1983).
static constexpr std::array<Turns, 5> ranges = {{
    {0, 1, {0x1.45f3068p-1, 0x1.727220ap-27, 0x1.29fc2757d1f53p-56}},
    {0x1p47, 0x1p-24, {0x1.b72722p+1, 0x1.529fc24p-28, 0x1.abe8fa9a6ee07p-55}},
    {0x1p71, 0x1p-48, {0x1.529fcp-4, 0x1.3abe8fap-27, 0x1.34ddc0db6295ap-56}},
    {0x1p95, 0x1p-72, {0x1.3abe8ep-3, 0x1.a9a6eep-27, 0x1.b6c52b3278872p-57}},
    {0x1p119, 0x1p-96, {0x1.f534ddcp+0, 0x1.b6c528p-33, 0x1.993c439041fe5p-56}},
}};

/// Emits the choice of the factors for the range of `x`, an f64.
static EmittedTurns turnsOf(ScalarBuilder &s, Value x) {
  Type f64 = x.getType();
  Value magnitude = math::AbsFOp::create(s.builder, s.loc, x);
  EmittedTurns chosen;
  for (const Turns &range : ranges) {
    Value reaches;
    if (range.from != 0)
      reaches = s.compare(arith::CmpFPredicate::OGE, magnitude,
                          s.number(f64, range.from));
    const auto choose = [&](Value &number, double own) {
      Value constant = s.number(f64, own);
      number = reaches ? s.select(reaches, constant, number) : constant;
    };
    choose(chosen.scale, range.scale);
    for (auto [part, own] : llvm::zip_equal(chosen.parts, range.parts))
      choose(part, own);
  }
  return chosen;
}

/// Emits the angle of `x`, an f64 with the digits of an f32, modulo whole
/// turns. Its quarters are 0 and its rest is NaN if `x` is no finite number.
static Angle reduce(ScalarBuilder &s, Value x) {
  Type f64 = x.getType(), i64 = s.builder.getI64Type();
  const EmittedTurns turns = turnsOf(s, x);
  Value scaled = s.mul(x, turns.scale);
  Value whole, rest = s.mul(scaled, turns.parts[2]);
  for (size_t i : {1, 0}) {
    Value product = s.mul(scaled, turns.parts[i]);
    Value quarters = math::RoundEvenOp::create(s.builder, s.loc, product);
    rest = s.add(s.sub(product, quarters), rest);
    whole = whole ? s.add(whole, quarters) : quarters;
  }
  Value last = math::RoundEvenOp::create(s.builder, s.loc, rest);
  rest = s.mul(s.sub(rest, last), s.number(f64, M_PI_2));
  // The conversion of infinity or NaN to an integer is undefined.
  Value isFinite = s.compare(arith::CmpFPredicate::ORD, last, last);
  Value counted = s.select(isFinite, s.add(whole, last), s.number(f64, 0));
  return {arith::FPToSIOp::create(s.builder, s.loc, i64, counted), rest};
}

/// Emits Σ coefficients[i] · x^i by Horner's method.
static Value polynomial(ScalarBuilder &s, Value x,
                        ArrayRef<double> coefficients) {
  Value sum = s.number(x.getType(), coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = math::FmaOp::create(s.builder, s.loc, sum, x,
                              s.number(x.getType(), coefficient));
  return sum;
}

/// Emits the sine of `x` plus `quarter` quarter turns. `x` must be an f32.
static Value sineOfF32(ScalarBuilder &s, Value x, int64_t quarter) {
  Type i64 = s.builder.getI64Type();
  const Angle angle = reduce(
      s, arith::ExtFOp::create(s.builder, s.loc, s.builder.getF64Type(), x));
  Value square = s.mul(angle.rest, angle.rest);
  Value sine =
      s.mul(angle.rest, polynomial(s, square,
                                   {1, -1.0 / 6, 1.0 / 120, -1.0 / 5040,
                                    1.0 / 362880, -1.0 / 39916800}));
  Value cosine = polynomial(s, square,
                            {1, -0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320,
                             -1.0 / 3628800, 1.0 / 479001600});
  Value quarters = s.add(angle.quarters, s.integer(i64, quarter));
  auto bit = [&](int64_t which) {
    return s.compare(arith::CmpIPredicate::ne,
                     s.both(quarters, s.integer(i64, which)),
                     s.integer(i64, 0));
  };
  Value result = s.select(bit(1), cosine, sine);
  result = s.select(bit(2), s.neg(result), result);
  return arith::TruncFOp::create(s.builder, s.loc, x.getType(), result);
}

Value pcc::emit::sine(ScalarBuilder &s, Value x) {
  return x.getType().isF32() ? sineOfF32(s, x, 0) : s.libm("sin", {x});
}
Value pcc::emit::cosine(ScalarBuilder &s, Value x) {
  return x.getType().isF32() ? sineOfF32(s, x, 1) : s.libm("cos", {x});
}
