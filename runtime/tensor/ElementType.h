//===- ElementType.h - element types of tensors at run time ---------------===//

#ifndef PCC_RUNTIME_TENSOR_ELEMENTTYPE_H
#define PCC_RUNTIME_TENSOR_ELEMENTTYPE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pcc::runtime {

/// Type of a tensor's elements, with the numeric values of ElementType in
/// Program.fbs. Elements are little-endian in memory and in files. A Bool is
/// one byte, 0 or 1.
enum class ElementType : uint8_t {
  F32,
  F64,
  F16,
  BF16,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  Bool
};

/// Returns the size of one element in bytes.
size_t sizeOf(ElementType type);

/// Returns the name of a type, as JSON files, messages and dumps spell it:
/// "f32", "f64", "f16", "bf16", "i8" … "u64" or "bool".
std::string_view nameOf(ElementType type);
/// Returns the element type whose nameOf() is `name`; std::nullopt if there is
/// none.
std::optional<ElementType> parseElementType(std::string_view name);

/// Returns whether `type` is a floating-point type.
inline bool isFloat(ElementType type) { return type <= ElementType::BF16; }

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_ELEMENTTYPE_H
