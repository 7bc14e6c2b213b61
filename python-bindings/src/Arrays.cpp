//===- Arrays.cpp - arrays shared by Python and the runtime ---------------===//

#include "python-bindings/src/Arrays.h"
#include "python-bindings/src/Errors.h"
#include "runtime/program/Layout.h"

#include <optional>

namespace nb = nanobind;
using namespace pcc;
using namespace pcc::python;
using runtime::ElementType;

namespace {
/// An element type of the runtime and the DLPack type that equals it.
struct DlpackTypeRow {
  ElementType type;
  nb::dlpack::dtype_code code;
  uint8_t bits;
};
} // namespace

static constexpr DlpackTypeRow types[] = {
    {ElementType::F32, nb::dlpack::dtype_code::Float, 32},
    {ElementType::F64, nb::dlpack::dtype_code::Float, 64},
    {ElementType::F16, nb::dlpack::dtype_code::Float, 16},
    {ElementType::BF16, nb::dlpack::dtype_code::Bfloat, 16},
    {ElementType::I8, nb::dlpack::dtype_code::Int, 8},
    {ElementType::I16, nb::dlpack::dtype_code::Int, 16},
    {ElementType::I32, nb::dlpack::dtype_code::Int, 32},
    {ElementType::I64, nb::dlpack::dtype_code::Int, 64},
    {ElementType::U8, nb::dlpack::dtype_code::UInt, 8},
    {ElementType::U16, nb::dlpack::dtype_code::UInt, 16},
    {ElementType::U32, nb::dlpack::dtype_code::UInt, 32},
    {ElementType::U64, nb::dlpack::dtype_code::UInt, 64},
    {ElementType::Bool, nb::dlpack::dtype_code::Bool, 8}};

/// Returns the element type that equals a DLPack type; std::nullopt if the
/// runtime lacks it.
static std::optional<ElementType> typeOf(const nb::dlpack::dtype &dtype) {
  for (const DlpackTypeRow &row : types)
    if (uint8_t(row.code) == dtype.code && row.bits == dtype.bits &&
        dtype.lanes == 1)
      return row.type;
  return std::nullopt;
}

/// Returns the DLPack type that equals an element type.
static nb::dlpack::dtype dtypeOf(ElementType type) {
  for (const DlpackTypeRow &row : types)
    if (row.type == type)
      return {uint8_t(row.code), row.bits, 1};
  return {};
}

/// Raises an error about the input `name`, with exit code 10.
[[noreturn]] static void refuse(const std::string &name,
                                const std::string &why) {
  check(Status::error(BadInput, "input '" + name + "' " + why));
  throw nb::python_error();
}

/// nb::try_cast to Array copies arrays that are not dense and row-major.
BorrowedArrays::BorrowedArrays(const nb::dict &arrays) {
  for (const auto &[key, value] : arrays) {
    const std::string name = nb::str(key).c_str();
    Array array;
    if (!nb::try_cast(value, array))
      refuse(name, "is not a NumPy or DLPack array on this host, got " +
                       std::string(nb::type_name(value.type()).c_str()));
    const std::optional<ElementType> type = typeOf(array.dtype());
    if (!type)
      refuse(name, "has an element type that no input can have");
    runtime::InputArray view{*type, {}, array.data()};
    for (size_t dim = 0; dim < array.ndim(); ++dim)
      view.shape.push_back(int64_t(array.shape(dim)));
    inputs.emplace(name, std::move(view));
    owners.push_back(std::move(array));
  }
}

OwnedArray::OwnedArray(ElementType type, std::vector<int64_t> dims)
    : type(type), shape(std::move(dims)),
      size(size_t(runtime::numElements(shape)) * sizeOf(type)),
      memory(new std::byte[size]()) {}

/// The NumPy array owns a capsule, whose destructor deletes the memory.
nb::object OwnedArray::toNumpy() {
  std::byte *data = memory.release();
  const nb::capsule owner(data, [](void *memory) noexcept {
    delete[] static_cast<std::byte *>(memory);
  });
  const std::vector<size_t> dims(shape.begin(), shape.end());
  return nb::cast(nb::ndarray<nb::numpy>(data, dims.size(), dims.data(), owner,
                                         nullptr, dtypeOf(type)));
}
