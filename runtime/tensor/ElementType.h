//===- ElementType.h - the element types of tensors at run time -----------===//

#ifndef PCC_RUNTIME_TENSOR_ELEMENTTYPE_H
#define PCC_RUNTIME_TENSOR_ELEMENTTYPE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace pcc::runtime {

/// Stored in memory as little-endian; Bool is one byte, 0 or 1.
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

/// Bytes of one element.
size_t sizeOf(ElementType type);

/// "f32", "f64", "f16", "bf16", "i8" … "u64", "bool": the spelling of JSON,
/// messages and dumps.
std::string_view nameOf(ElementType type);
std::optional<ElementType> parseElementType(std::string_view name);

inline bool isFloat(ElementType type) { return type <= ElementType::BF16; }

} // namespace pcc::runtime

#endif // PCC_RUNTIME_TENSOR_ELEMENTTYPE_H
