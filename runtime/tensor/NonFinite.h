//===- NonFinite.h - search for values that are not finite ----------------===//

#ifndef PCC_RUNTIME_TENSOR_NONFINITE_H
#define PCC_RUNTIME_TENSOR_NONFINITE_H

#include "runtime/tensor/ElementType.h"

#include <cstdint>
#include <string>

namespace pcc::runtime {

/// Kinds of values that are not finite, as bits of a set.
enum NonFinite : unsigned { kNan = 1, kInfinity = 2, kMinusInfinity = 4 };

/// Returns which kinds of values that are not finite are among the `count`
/// elements at `data`, as a set of NonFinite. Returns 0 if all elements are
/// finite, or if `type` is no floating-point type.
unsigned nonFiniteIn(ElementType type, const void *data, int64_t count);

/// Returns the kinds in the set `kinds` as text, such as "nan" or "inf and
/// -inf".
std::string nonFiniteText(unsigned kinds);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_NONFINITE_H
