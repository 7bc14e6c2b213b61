//===- ElementType.cpp - element types of tensors at run time -------------===//

#include "runtime/tensor/ElementType.h"

#include <array>

namespace pcc::runtime {

namespace {
struct TypeRow {
  std::string_view name;
  size_t size;
};
} // namespace

/// Name and size of each type, indexed by ElementType.
static constexpr std::array<TypeRow, 13> types = {{{"f32", 4},
                                                   {"f64", 8},
                                                   {"f16", 2},
                                                   {"bf16", 2},
                                                   {"i8", 1},
                                                   {"i16", 2},
                                                   {"i32", 4},
                                                   {"i64", 8},
                                                   {"u8", 1},
                                                   {"u16", 2},
                                                   {"u32", 4},
                                                   {"u64", 8},
                                                   {"bool", 1}}};

size_t sizeOf(ElementType type) { return types[size_t(type)].size; }

std::string_view nameOf(ElementType type) { return types[size_t(type)].name; }

std::optional<ElementType> parseElementType(std::string_view name) {
  for (size_t i = 0; i < types.size(); ++i)
    if (types[i].name == name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

} // namespace pcc::runtime
