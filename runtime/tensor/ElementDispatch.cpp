//===- ElementDispatch.cpp - conversion between element types -------------===//

#include "runtime/tensor/ElementDispatch.h"

#include <cstring>

namespace pcc::runtime {

/// Converts `count` elements at `source` from the C++ type `From` to the C++
/// type `To`. Writes the converted elements to `target`.
///
/// `toBool` is true if the element type of `target` is Bool. Each nonzero
/// element then becomes 1. For example, 2.5 becomes the Bool 1 but the U8 2.
/// `toBool` is needed because `To` is uint8_t for both Bool and U8.
template <typename From, typename To>
static void convert(const void *source, int64_t count, bool toBool,
                    void *target) {
  const char *bytes = static_cast<const char *>(source);
  To *out = static_cast<To *>(target);
  for (int64_t i = 0; i < count; ++i) {
    From stored;
    std::memcpy(&stored, bytes + i * sizeof(From), sizeof(From));
    const auto value = static_cast<Computed<From>>(stored);
    if (toBool)
      out[i] = static_cast<To>(static_cast<Computed<To>>(value != 0));
    else
      out[i] = static_cast<To>(static_cast<Computed<To>>(value));
  }
}

void convertElements(ElementType from, const void *source, int64_t count,
                     ElementType to, void *target) {
  if (from == to) {
    std::memcpy(target, source, size_t(count) * sizeOf(from));
    return;
  }
  dispatch(from, [&](auto stored) {
    dispatch(to, [&](auto wanted) {
      convert<decltype(stored), decltype(wanted)>(
          source, count, to == ElementType::Bool, target);
    });
  });
}

} // namespace pcc::runtime
