//===- NonFinite.cpp - search for values that are not finite --------------===//

#include "runtime/tensor/NonFinite.h"

#include <utility>

namespace pcc::runtime {

/// Returns the set of kinds (NonFinite) of the `count` floating-point elements
/// at `data`. `Bits` is an unsigned integer as wide as an element. `exponent`
/// and `mantissa` are masks that select these bits of an element. An element is
/// not finite if all bits of its exponent are set.
template <typename Bits>
static unsigned find(const void *data, int64_t count, Bits exponent,
                     Bits mantissa) {
  const auto *elements = static_cast<const Bits *>(data);
  unsigned kinds = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Bits bits = elements[i];
    if ((bits & exponent) != exponent)
      continue;
    const bool isNegative = (bits & Bits(~(exponent | mantissa))) != 0;
    kinds |= bits & mantissa ? kNan : isNegative ? kMinusInfinity : kInfinity;
  }
  return kinds;
}

unsigned nonFiniteIn(ElementType type, const void *data, int64_t count) {
  switch (type) {
  case ElementType::F64:
    return find<uint64_t>(data, count, 0x7FF0000000000000, 0x000FFFFFFFFFFFFF);
  case ElementType::F32:
    return find<uint32_t>(data, count, 0x7F800000, 0x007FFFFF);
  case ElementType::F16:
    return find<uint16_t>(data, count, 0x7C00, 0x03FF);
  case ElementType::BF16:
    return find<uint16_t>(data, count, 0x7F80, 0x007F);
  default:
    return 0;
  }
}

std::string nonFiniteText(unsigned kinds) {
  std::string text;
  for (const auto &[kind, name] :
       {std::pair{kNan, "nan"}, {kInfinity, "inf"}, {kMinusInfinity, "-inf"}})
    if (kinds & kind)
      text += (text.empty() ? "" : " and ") + std::string(name);
  return text;
}

} // namespace pcc::runtime
