//===- ConstantBytes.cpp - bytes of constants in a program ----------------===//

#include "passes/7-emit/program/ConstantBytes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

/// Appends the bytes of one element to `bytes`, in little-endian order. An i1
/// becomes one byte.
static void append(std::string &bytes, const APInt &bits) {
  const unsigned size = std::max(1u, bits.getBitWidth() / 8);
  const uint64_t value = bits.getZExtValue();
  for (unsigned i = 0; i < size; ++i)
    bytes.push_back(static_cast<char>(value >> (8 * i)));
}

static APInt bitsOf(const APInt &value) { return value; }
static APInt bitsOf(const APFloat &value) { return value.bitcastToAPInt(); }

/// Returns the bytes of all elements of a constant, in row-major order.
/// `elements` is the content of the constant. `Number` is the C++ class that
/// holds one element: APInt for integers, and APFloat for floating-point
/// numbers.
template <typename Number>
static std::string spelled(DenseElementsAttr elements) {
  std::string bytes;
  if (!elements.isSplat()) {
    for (const Number &value : elements.getValues<Number>())
      append(bytes, bitsOf(value));
    return bytes;
  }
  std::string one;
  append(one, bitsOf(elements.getSplatValue<Number>()));
  for (int64_t i = 0; i < elements.getNumElements(); ++i)
    bytes += one;
  return bytes;
}

std::string pcc::emit::constantBytesOf(ElementsAttr elements) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? std::string(blob->getData().data(), blob->getData().size())
                : std::string();
  }
  auto dense = cast<DenseElementsAttr>(elements);
  return isa<FloatType>(dense.getElementType()) ? spelled<APFloat>(dense)
                                                : spelled<APInt>(dense);
}
