//===- Arithmetic.h - scalar functions defined for all arguments ----------===//
//
// Scalar arithmetic of the reference evaluator. T is double, int64_t or
// uint64_t. Every function is defined for all arguments: integers wrap around
// as in two's complement, and integer x / 0 and x mod 0 are 0.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_ARITHMETIC_H
#define PCC_DIALECTS_GRAPH_REFERENCE_ARITHMETIC_H

#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace pcc::graph {

/// Type in which elements of type T are computed, so that overflow is defined:
/// uint64_t for integers, T itself for floating-point types.
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

/// Returns a + b; integers wrap around.
template <typename T> T wrappingAdd(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
}
/// Returns a − b; integers wrap around.
template <typename T> T wrappingSub(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
}
/// Returns a · b; integers wrap around.
template <typename T> T wrappingMul(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
}
/// Returns −a. The smallest int64_t has no negative and is returned unchanged.
template <typename T> T wrappingNeg(T a) {
  return static_cast<T>(-Wrapping<T>(a));
}

/// Returns the absolute value of `a`. `a` has the type double, uint64_t or
/// int64_t. The smallest int64_t, −2^63, is returned unchanged, because 2^63 is
/// not an int64_t.
inline double absolute(double a) { return std::fabs(a); }
inline uint64_t absolute(uint64_t a) { return a; }
inline int64_t absolute(int64_t a) { return a < 0 ? wrappingNeg(a) : a; }

/// Returns the sign of `a`: -1, 0 or 1. NaN is returned unchanged.
template <typename T> T signOf(T a) {
  return a > 0 ? T(1) : a < 0 ? static_cast<T>(-1) : a;
}

/// Returns the larger of `a` and `b`, or NaN if one of them is NaN.
template <typename T> T larger(T a, T b) { return a > b || a != a ? a : b; }
/// Returns the smaller of `a` and `b`, or NaN if one of them is NaN.
template <typename T> T smaller(T a, T b) { return a < b || a != a ? a : b; }

/// Returns the neutral element of larger(): -infinity for floats, the smallest
/// T for integers.
template <typename T> T lowest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? static_cast<T>(-Limits::infinity())
                              : Limits::lowest();
}
/// Returns the neutral element of smaller(): infinity for floats, the largest T
/// for integers.
template <typename T> T highest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

/// Returns a / b. Integer quotients are truncated toward zero, and integer
/// division by 0 gives 0.
inline double quotient(double a, double b) { return a / b; }
inline uint64_t quotient(uint64_t a, uint64_t b) { return b ? a / b : 0; }
inline int64_t quotient(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? wrappingNeg(a) : a / b;
}

/// Returns the remainder of a / b. If `truncated` is true, the remainder has
/// the sign of `a`, like the result of the C function fmod. If `truncated` is
/// false, the remainder has the sign of `b`, like the result of the Python
/// operator %. For a = -7 and b = 3, the remainder is -1 if `truncated` is
/// true, and 2 if `truncated` is false. If `a` and `b` are integers and `b` is
/// 0, the function returns 0.
inline double remainder(double a, double b, bool truncated) {
  double rest = std::fmod(a, b);
  return !truncated && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
inline uint64_t remainder(uint64_t a, uint64_t b, bool) {
  return b ? a % b : 0;
}
inline int64_t remainder(int64_t a, int64_t b, bool truncated) {
  int64_t rest = b == 0 || b == -1 ? 0 : a % b;
  return !truncated && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Returns `base` to the power of `exponent`. An overflow wraps around.
/// Fractions are truncated toward zero: 2 to the power of -1 is 0.
inline int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; exponent; exponent >>= 1, base = wrappingMul(base, base))
    if (exponent & 1)
      result = wrappingMul(result, base);
  return result;
}

/// Rounds `a` toward zero. A value outside the range of int64_t becomes the
/// smallest or largest int64_t, and NaN becomes 0.
inline int64_t truncated(double a) {
  constexpr double limit = 9223372036854775808.0;
  if (a != a)
    return 0;
  if (a >= limit)
    return std::numeric_limits<int64_t>::max();
  return a < -limit ? std::numeric_limits<int64_t>::min()
                    : static_cast<int64_t>(a);
}
/// Returns the integer `a` as int64_t. A uint64_t keeps its bits.
inline int64_t truncated(std::integral auto a) {
  return static_cast<int64_t>(a);
}

/// Returns log(1 + e^x), computed so that e^x cannot overflow.
inline double softplus(double x) {
  return larger(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}
/// Returns the activation function GELU of `x`:
///
///   0.5 · x · (1 + erf(slope · x))
///
/// The usual `slope` is 1/√2.
inline double geluErf(double x, double slope) {
  return 0.5 * x * (1 + std::erf(slope * x));
}
/// Returns the tanh approximation of the activation function GELU of `x`:
///
///   0.5 · x · (1 + tanh(slope · (x + cubic · x³)))
///
/// The usual `slope` is √(2/π), and the usual `cubic` is 0.044715.
inline double geluTanh(double x, double slope, double cubic) {
  return 0.5 * x * (1 + std::tanh(slope * (x + cubic * x * x * x)));
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_ARITHMETIC_H
