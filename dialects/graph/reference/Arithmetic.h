//===- Arithmetic.h - scalar functions without undefined cases ------------===//
//
// T is double, int64_t or uint64_t. Integers wrap, nothing traps: x / 0 and
// x mod 0 are 0 for integers.
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

/// The type that computes T without overflow being undefined.
template <typename T>
using Wrapping = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;

template <typename T> T wrappingAdd(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b));
}
template <typename T> T wrappingSub(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) - Wrapping<T>(b));
}
template <typename T> T wrappingMul(T a, T b) {
  return static_cast<T>(Wrapping<T>(a) * Wrapping<T>(b));
}
template <typename T> T wrappingNeg(T a) {
  return static_cast<T>(-Wrapping<T>(a));
}

inline double absolute(double a) { return std::fabs(a); }
inline uint64_t absolute(uint64_t a) { return a; }
inline int64_t absolute(int64_t a) { return a < 0 ? wrappingNeg(a) : a; }

/// -1, 0 or 1; NaN stays.
template <typename T> T signOf(T a) {
  return a > 0 ? T(1) : a < 0 ? static_cast<T>(-1) : a;
}

/// NaN wins in both.
template <typename T> T larger(T a, T b) { return a > b || a != a ? a : b; }
template <typename T> T smaller(T a, T b) { return a < b || a != a ? a : b; }

/// What is neutral for `larger` and for `smaller`.
template <typename T> T lowest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? static_cast<T>(-Limits::infinity())
                              : Limits::lowest();
}
template <typename T> T highest() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

inline double quotient(double a, double b) { return a / b; }
inline uint64_t quotient(uint64_t a, uint64_t b) { return b ? a / b : 0; }
inline int64_t quotient(int64_t a, int64_t b) {
  return b == 0 ? 0 : b == -1 ? wrappingNeg(a) : a / b;
}

/// The remainder with the sign of b, or of a if `truncated`.
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

/// Integer power; a negative exponent gives the truncated fraction.
inline int64_t integerPower(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  int64_t result = 1;
  for (; exponent; exponent >>= 1, base = wrappingMul(base, base))
    if (exponent & 1)
      result = wrappingMul(result, base);
  return result;
}

/// Towards zero; what does not fit is the nearest int64_t, NaN is 0.
inline int64_t truncated(double a) {
  constexpr double limit = 9223372036854775808.0;
  if (a != a)
    return 0;
  if (a >= limit)
    return std::numeric_limits<int64_t>::max();
  return a < -limit ? std::numeric_limits<int64_t>::min()
                    : static_cast<int64_t>(a);
}
inline int64_t truncated(std::integral auto a) {
  return static_cast<int64_t>(a);
}

inline double softplus(double x) {
  return larger(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}
inline double geluErf(double x, double slope) {
  return 0.5 * x * (1 + std::erf(slope * x));
}
inline double geluTanh(double x, double slope, double cubic) {
  return 0.5 * x * (1 + std::tanh(slope * (x + cubic * x * x * x)));
}

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_ARITHMETIC_H
