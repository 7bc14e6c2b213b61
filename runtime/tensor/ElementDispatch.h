//===- ElementDispatch.h - dispatch from ElementType to a C++ type --------===//

#ifndef PCC_RUNTIME_TENSOR_ELEMENTDISPATCH_H
#define PCC_RUNTIME_TENSOR_ELEMENTDISPATCH_H

#include "runtime/tensor/ElementType.h"
#include "runtime/tensor/FloatConversion.h"

#include <type_traits>

namespace pcc::runtime {

/// Type in which arithmetic on elements of storage type T is done: f32 for f16
/// and bf16, T itself for all other types.
template <typename T>
using Computed = std::conditional_t<
    std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>, float, T>;

/// Calls the function `visit` with one argument, and returns the result of the
/// call. The argument is zero. The C++ type of the argument is the type that
/// stores one element of `type`. For example, the argument has the C++ type
/// float if `type` is F32, and uint8_t if `type` is Bool.
///
/// `visit` uses the C++ type of the argument and ignores the value. For
/// example, this code calls sum<float>(data) if `type` is F32:
///
///   dispatch(type, [&](auto element) { sum<decltype(element)>(data); });
template <typename Visitor>
decltype(auto) dispatch(ElementType type, Visitor &&visit) {
  switch (type) {
  case ElementType::F32:
    return visit(float());
  case ElementType::F64:
    return visit(double());
  case ElementType::F16:
    return visit(Float16());
  case ElementType::BF16:
    return visit(BFloat16());
  case ElementType::I8:
    return visit(int8_t());
  case ElementType::I16:
    return visit(int16_t());
  case ElementType::I32:
    return visit(int32_t());
  case ElementType::I64:
    return visit(int64_t());
  case ElementType::U16:
    return visit(uint16_t());
  case ElementType::U32:
    return visit(uint32_t());
  case ElementType::U64:
    return visit(uint64_t());
  case ElementType::U8:
  case ElementType::Bool:
    break;
  }
  return visit(uint8_t());
}

/// Converts `count` contiguous elements of type `from` at `source` to type `to`
/// at `target`. The two memory ranges must not overlap. `source` needs no
/// alignment; `target` must be aligned to its element type.
///
/// A nonzero value becomes the Bool 1. Other conversions are static_casts; f16
/// and bf16 go by way of f32.
void convertElements(ElementType from, const void *source, int64_t count,
                     ElementType to, void *target);

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_ELEMENTDISPATCH_H
