//===- FileElements.cpp - conversion between tensors and file bytes -------===//

#include "passes/interpret/elements/FileElements.h"
#include "runtime/tensor/ElementDispatch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace pcc;
using graph::ElementKind;
using graph::HostTensor;
using runtime::ElementType;

std::optional<ElementType> interpret::fileTypeOf(Type elementType) {
  if (elementType.isInteger(1))
    return ElementType::Bool;
  std::string name;
  llvm::raw_string_ostream(name) << elementType;
  // The name of an unsigned type is, for example, "ui8" in MLIR, but "u8" in
  // the runtime. Remove the letter "i", which has the index 1.
  if (elementType.isUnsignedInteger())
    name.erase(1, 1);
  return runtime::parseElementType(name);
}

/// Returns the element type in which a HostTensor of the kind `kind` stores its
/// elements: F64 for floats, I64 for integers and booleans.
static ElementType storageOf(ElementKind kind) {
  return kind == ElementKind::Float ? ElementType::F64 : ElementType::I64;
}

HostTensor interpret::readElements(ArrayRef<int64_t> shape, ElementType type,
                                   const void *bytes) {
  ElementKind kind = runtime::isFloat(type)      ? ElementKind::Float
                     : type == ElementType::Bool ? ElementKind::Bool
                                                 : ElementKind::Int;
  HostTensor tensor = HostTensor::zeros(shape, kind);
  graph::withStorage(kind, [&](auto zero) {
    runtime::convertElements(type, bytes, tensor.numElements(), storageOf(kind),
                             tensor.data<decltype(zero)>());
  });
  if (kind == ElementKind::Bool)
    for (int64_t &value : tensor.ints)
      value = value != 0;
  return tensor;
}

std::string interpret::writeElements(const HostTensor &tensor,
                                     ElementType type) {
  std::string bytes(tensor.numElements() * runtime::sizeOf(type), '\0');
  graph::withStorage(tensor.kind, [&](auto zero) {
    runtime::convertElements(storageOf(tensor.kind),
                             tensor.data<decltype(zero)>(),
                             tensor.numElements(), type, bytes.data());
  });
  return bytes;
}
