//===- ElementWise.cpp - evaluators of element-wise ops -------------------===//

#include "dialects/graph/reference/Arithmetic.h"
#include "dialects/graph/reference/EvaluatorTable.h"
#include "dialects/graph/reference/Philox.h"
#include "dialects/graph/reference/Strides.h"

using namespace mlir;
using namespace pcc::graph;

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

/// Computes out[i] = f(in[i]) for every element i.
template <typename In, typename Out, typename F>
static void mapElements(const HostTensor &from, HostTensor &to, F f) {
  const In *__restrict in = from.data<In>();
  Out *__restrict out = to.data<Out>();
  for (int64_t i = 0, count = to.numElements(); i < count; ++i)
    out[i] = static_cast<Out>(f(in[i]));
}

/// Computes out[i] = f(lhs[i · lhsStep], rhs[i · rhsStep]) for 0 ≤ i < count. A
/// step of 0 broadcasts one element. Frequent pairs of steps have separate
/// loops.
template <typename In, typename Out, typename F>
static void zipRow(const In *__restrict lhs, int64_t lhsStep,
                   const In *__restrict rhs, int64_t rhsStep,
                   Out *__restrict out, int64_t count, F f) {
  if (lhsStep == 1 && rhsStep == 1)
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<Out>(f(lhs[i], rhs[i]));
  else if (lhsStep == 1 && rhsStep == 0)
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<Out>(f(lhs[i], *rhs));
  else
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<Out>(f(lhs[i * lhsStep], rhs[i * rhsStep]));
}

/// Computes an element-wise op of two operands, which are broadcast to the
/// shape of the result: each element is f(lhs element, rhs element).
template <typename In, typename Out, typename F>
static void zipElements(const HostTensor &lhs, const HostTensor &rhs,
                        HostTensor &to, F f) {
  forEachRow<3>(to.shape,
                {rowMajor(to.shape), broadcastStrides(lhs.shape, to.shape),
                 broadcastStrides(rhs.shape, to.shape)},
                [&](auto offsets, int64_t count, auto steps) {
                  zipRow(lhs.data<In>() + offsets[1], steps[1],
                         rhs.data<In>() + offsets[2], steps[2],
                         to.data<Out>() + offsets[0], count, f);
                });
}

//===----------------------------------------------------------------------===//
// Evaluators of op families
//===----------------------------------------------------------------------===//

/// Evaluates an op with one operand by applying the function F to each element.
/// Fails unless the elements are floats.
template <auto F> static LogicalResult floatUnary(Evaluation &e) {
  if (e.in(0).kind != ElementKind::Float)
    return e.fail("is defined for floats only");
  mapElements<double, double>(e.in(0), e.out(), F);
  return success();
}

/// Evaluates an op with one operand by applying the function F to each element.
/// The elements are floats or integers.
template <auto F> static LogicalResult anyUnary(Evaluation &e) {
  withArithmetic(e.elementType(0), [&](auto zero) {
    using T = decltype(zero);
    mapElements<T, T>(e.in(0), e.out(), F);
  });
  return success();
}

/// Evaluates an op with two operands by applying the function F to each pair of
/// elements. Both operands and the result have the same element type.
template <auto F> static LogicalResult anyBinary(Evaluation &e) {
  withArithmetic(e.elementType(0), [&](auto zero) {
    using T = decltype(zero);
    zipElements<T, T>(e.in(0), e.in(1), e.out(), F);
  });
  return success();
}

/// Evaluates an op with two operands by applying the function F to each pair of
/// elements. The elements are integers or booleans. Fails if they are floats.
template <auto F> static LogicalResult intBinary(Evaluation &e) {
  if (e.in(0).kind == ElementKind::Float)
    return e.fail("is defined for integers and booleans only");
  zipElements<int64_t, int64_t>(e.in(0), e.in(1), e.out(), F);
  return success();
}

//===----------------------------------------------------------------------===//
// Ops with attributes or several types
//===----------------------------------------------------------------------===//

static LogicalResult logicalNot(Evaluation &e) {
  if (e.in(0).kind == ElementKind::Float)
    return e.fail("is defined for integers and booleans only");
  bool booleans = e.in(0).kind == ElementKind::Bool;
  mapElements<int64_t, int64_t>(e.in(0), e.out(),
                                [=](int64_t x) { return booleans ? !x : ~x; });
  return success();
}

static LogicalResult isNan(Evaluation &e) {
  if (e.in(0).kind == ElementKind::Float)
    mapElements<double, int64_t>(e.in(0), e.out(),
                                 [](double x) { return std::isnan(x); });
  return success();
}

static LogicalResult isInf(Evaluation &e) {
  auto op = cast<IsInfOp>(e.op);
  bool negative = op.getNegative(), positive = op.getPositive();
  if (e.in(0).kind == ElementKind::Float)
    mapElements<double, int64_t>(e.in(0), e.out(), [=](double x) {
      return std::isinf(x) && (x < 0 ? negative : positive);
    });
  return success();
}

/// Evaluates gelu by its erf formula, or by its tanh formula if the attribute
/// `tanh` is set. The attributes `slope` and `cubic` replace the usual
/// constants of the formulas.
static LogicalResult gelu(Evaluation &e) {
  auto op = cast<GeluOp>(e.op);
  bool tanh = op.getTanh();
  auto given = [](std::optional<APFloat> value, double usual) {
    return value ? value->convertToDouble() : usual;
  };
  double slope = given(op.getSlope(), tanh ? std::sqrt(M_2_PI) : M_SQRT1_2),
         cubic = given(op.getCubic(), 0.044715);
  if (e.in(0).kind != ElementKind::Float)
    return e.fail("is defined for floats only");
  mapElements<double, double>(e.in(0), e.out(), [=](double x) {
    return tanh ? geluTanh(x, slope, cubic) : geluErf(x, slope);
  });
  return success();
}

static LogicalResult mod(Evaluation &e) {
  bool truncated = cast<ModOp>(e.op).getTruncated();
  withArithmetic(e.elementType(0), [&](auto zero) {
    using T = decltype(zero);
    zipElements<T, T>(e.in(0), e.in(1), e.out(),
                      [=](T a, T b) { return remainder(a, b, truncated); });
  });
  return success();
}

/// Returns `tensor` with its elements converted to double. `type` is the
/// element type in the IR, which tells whether integers are unsigned.
static HostTensor asFloats(const HostTensor &tensor, Type type) {
  if (tensor.kind == ElementKind::Float)
    return tensor;
  HostTensor floats = HostTensor::zeros(tensor.shape, ElementKind::Float);
  withArithmetic(type, [&](auto zero) {
    mapElements<decltype(zero), double>(tensor, floats,
                                        [](auto x) { return x; });
  });
  return floats;
}

/// Evaluates pow, which raises operand 0 to the power of operand 1. Two
/// integers are evaluated in integer arithmetic, where an overflow wraps
/// around. All other operands are evaluated in f64. Integer results are
/// truncated toward zero.
static LogicalResult pow(Evaluation &e) {
  if (e.in(0).kind != ElementKind::Float &&
      e.in(1).kind != ElementKind::Float) {
    zipElements<int64_t, int64_t>(e.in(0), e.in(1), e.out(), integerPower);
    return success();
  }
  HostTensor lhs = asFloats(e.in(0), e.elementType(0)),
             rhs = asFloats(e.in(1), e.elementType(1));
  if (e.out().kind == ElementKind::Float)
    zipElements<double, double>(
        lhs, rhs, e.out(), [](double a, double b) { return std::pow(a, b); });
  else
    zipElements<double, int64_t>(lhs, rhs, e.out(), [](double a, double b) {
      return truncated(std::pow(a, b));
    });
  return success();
}

template <auto F> static LogicalResult compareBy(Evaluation &e) {
  withArithmetic(e.elementType(0), [&](auto zero) {
    zipElements<decltype(zero), int64_t>(e.in(0), e.in(1), e.out(), F);
  });
  return success();
}

/// Evaluates compare by a table of functions, one per predicate. The table must
/// have the order of the enumerators of Predicate.
static LogicalResult compare(Evaluation &e) {
  static constexpr Evaluator byPredicate[] = {
      compareBy<[](auto a, auto b) { return a == b; }>,
      compareBy<[](auto a, auto b) { return a < b; }>,
      compareBy<[](auto a, auto b) { return a <= b; }>,
      compareBy<[](auto a, auto b) { return a > b; }>,
      compareBy<[](auto a, auto b) { return a >= b; }>};
  return byPredicate[static_cast<size_t>(cast<CompareOp>(e.op).getPredicate())](
      e);
}

/// Evaluates select. All three operands are broadcast to the shape of the
/// result.
static LogicalResult select(Evaluation &e) {
  HostTensor &to = e.out();
  std::array<Strides, 4> strides{rowMajor(to.shape)};
  for (size_t i = 0; i < 3; ++i)
    strides[i + 1] = broadcastStrides(e.in(i).shape, to.shape);
  const int64_t *condition = e.in(0).data<int64_t>();
  withStorage(to.kind, [&](auto zero) {
    using T = decltype(zero);
    const T *onTrue = e.in(1).data<T>(), *onFalse = e.in(2).data<T>();
    forEachRow<4>(to.shape, strides, [&](auto at, int64_t count, auto step) {
      T *out = to.data<T>() + at[0];
      for (int64_t i = 0; i < count; ++i)
        out[i] = condition[at[1] + i * step[1]] ? onTrue[at[2] + i * step[2]]
                                                : onFalse[at[3] + i * step[3]];
    });
  });
  return success();
}

/// Evaluates cast. A cast to an integer truncates toward zero, and saturates at
/// the range of int64_t. A cast to a boolean gives false for 0 and true for all
/// other elements.
static LogicalResult castElements(Evaluation &e) {
  const HostTensor &in = e.in(0);
  HostTensor &out = e.out();
  withArithmetic(e.elementType(0), [&](auto zero) {
    using T = decltype(zero);
    if (out.kind == ElementKind::Float)
      mapElements<T, double>(in, out, [](T x) { return x; });
    else if (out.kind == ElementKind::Bool)
      mapElements<T, int64_t>(in, out, [](T x) { return x != 0; });
    else
      mapElements<T, int64_t>(in, out, [](T x) { return truncated(x); });
  });
  return success();
}

/// Evaluates random by the generator Philox. The counter consists of operand 0
/// (the element index) and operand 1 (the training step), and the key is the
/// attribute `key`. Each result is in [0, 1): 24 random bits divided by 2^24.
static LogicalResult random(Evaluation &e) {
  auto low = [](int64_t x) { return static_cast<uint32_t>(x); };
  auto high = [](int64_t x) {
    return static_cast<uint32_t>(static_cast<uint64_t>(x) >> 32);
  };
  int64_t key = cast<RandomOp>(e.op).getKey();
  zipElements<int64_t, double>(
      e.in(0), e.in(1), e.out(), [=](int64_t index, int64_t step) {
        auto words = philox({low(index), high(index), low(step), high(step)},
                            {low(key), high(key)});
        return static_cast<double>(words[0] >> 8) / (1 << 24);
      });
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

/// Adds the evaluators of element-wise ops that are defined for floats only.
static void addFloatFunctions(EvaluatorTable &table) {
  table.add<ExpOp>(floatUnary<[](double x) { return std::exp(x); }>);
  table.add<LogOp>(floatUnary<[](double x) { return std::log(x); }>);
  table.add<SqrtOp>(floatUnary<[](double x) { return std::sqrt(x); }>);
  table.add<ReciprocalOp>(floatUnary<[](double x) { return 1 / x; }>);
  table.add<TanhOp>(floatUnary<[](double x) { return std::tanh(x); }>);
  table.add<ErfOp>(floatUnary<[](double x) { return std::erf(x); }>);
  table.add<SigmoidOp>(
      floatUnary<[](double x) { return 1 / (1 + std::exp(-x)); }>);
  table.add<SoftplusOp>(floatUnary<softplus>);
  table.add<SinOp>(floatUnary<[](double x) { return std::sin(x); }>);
  table.add<CosOp>(floatUnary<[](double x) { return std::cos(x); }>);
  table.add<TanOp>(floatUnary<[](double x) { return std::tan(x); }>);
  table.add<AsinOp>(floatUnary<[](double x) { return std::asin(x); }>);
  table.add<AcosOp>(floatUnary<[](double x) { return std::acos(x); }>);
  table.add<AtanOp>(floatUnary<[](double x) { return std::atan(x); }>);
  table.add<SinhOp>(floatUnary<[](double x) { return std::sinh(x); }>);
  table.add<CoshOp>(floatUnary<[](double x) { return std::cosh(x); }>);
  table.add<AsinhOp>(floatUnary<[](double x) { return std::asinh(x); }>);
  table.add<AcoshOp>(floatUnary<[](double x) { return std::acosh(x); }>);
  table.add<AtanhOp>(floatUnary<[](double x) { return std::atanh(x); }>);
  table.add<FloorOp>(floatUnary<[](double x) { return std::floor(x); }>);
  table.add<CeilOp>(floatUnary<[](double x) { return std::ceil(x); }>);
  table.add<RoundOp>(floatUnary<[](double x) { return std::nearbyint(x); }>);
  table.add<GeluOp>(gelu);
}

/// Adds the evaluators of arithmetic ops that are defined for floats and
/// integers.
static void addArithmetic(EvaluatorTable &table) {
  table.add<NegOp>(anyUnary<[](auto x) { return wrappingNeg(x); }>);
  table.add<AbsOp>(anyUnary<[](auto x) { return absolute(x); }>);
  table.add<SignOp>(anyUnary<[](auto x) { return signOf(x); }>);
  table.add<ReluOp>(anyUnary<[](auto x) { return larger(x, decltype(x)(0)); }>);
  table.add<AddOp>(anyBinary<[](auto a, auto b) { return wrappingAdd(a, b); }>);
  table.add<SubOp>(anyBinary<[](auto a, auto b) { return wrappingSub(a, b); }>);
  table.add<MulOp>(anyBinary<[](auto a, auto b) { return wrappingMul(a, b); }>);
  table.add<DivOp>(anyBinary<[](auto a, auto b) { return quotient(a, b); }>);
  table.add<MaxOp>(anyBinary<[](auto a, auto b) { return larger(a, b); }>);
  table.add<MinOp>(anyBinary<[](auto a, auto b) { return smaller(a, b); }>);
  table.add<PowOp>(pow);
  table.add<ModOp>(mod);
}

/// Adds the evaluators of ops on booleans and bits, comparisons, select, cast
/// and random.
static void addLogic(EvaluatorTable &table) {
  Evaluator both = intBinary<[](int64_t a, int64_t b) { return a & b; }>;
  Evaluator either = intBinary<[](int64_t a, int64_t b) { return a | b; }>;
  Evaluator exactlyOne = intBinary<[](int64_t a, int64_t b) { return a ^ b; }>;
  table.add<AndOp>(both);
  table.add<BitAndOp>(both);
  table.add<OrOp>(either);
  table.add<BitOrOp>(either);
  table.add<XorOp>(exactlyOne);
  table.add<BitXorOp>(exactlyOne);
  table.add<NotOp>(logicalNot);
  table.add<IsNanOp>(isNan);
  table.add<IsInfOp>(isInf);
  table.add<CompareOp>(compare);
  table.add<SelectOp>(select);
  table.add<CastOp>(castElements);
  table.add<RandomOp>(random);
}

void pcc::graph::addElementWiseEvaluators(EvaluatorTable &table) {
  addFloatFunctions(table);
  addArithmetic(table);
  addLogic(table);
}
