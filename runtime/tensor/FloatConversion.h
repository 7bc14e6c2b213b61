//===- FloatConversion.h - bf16 and f16 elements and their conversions ----===//

#ifndef PCC_RUNTIME_TENSOR_FLOATCONVERSION_H
#define PCC_RUNTIME_TENSOR_FLOATCONVERSION_H

#include <bit>
#include <cstdint>

namespace pcc::runtime {

/// Storage of a bf16 element: the upper 16 bits of an f32.
struct BFloat16 {
  uint16_t bits;
  BFloat16() = default;
  /// Rounds `value` to the nearest bf16, ties to even. NaN stays NaN.
  explicit BFloat16(float value) {
    const uint32_t wide = std::bit_cast<uint32_t>(value);
    if ((wide & 0x7fffffff) > 0x7f800000)
      bits = uint16_t(wide >> 16 | 0x40);
    else
      bits = uint16_t((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
  }
  /// Returns the value as f32, which represents every bf16 exactly.
  explicit operator float() const {
    return std::bit_cast<float>(uint32_t(bits) << 16);
  }
};

/// Storage of an f16 element: a value of the type _Float16. The C++ compiler
/// provides this type as an extension.
struct Float16 {
  _Float16 value;
  Float16() = default;
  /// Rounds `wide` to the nearest f16, ties to even.
  explicit Float16(float wide) : value(static_cast<_Float16>(wide)) {}
  /// Returns the value as f32, which represents every f16 exactly.
  explicit operator float() const { return static_cast<float>(value); }
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_FLOATCONVERSION_H
