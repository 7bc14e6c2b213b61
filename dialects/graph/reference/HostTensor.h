//===- HostTensor.h - a plain tensor in the compiler's memory -------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_HOSTTENSOR_H
#define PCC_DIALECTS_GRAPH_REFERENCE_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <type_traits>
#include <vector>

namespace pcc::graph {

enum class ElementKind : uint8_t { Float, Int, Bool };

/// What elements of `elementType` are here.
ElementKind kindOf(mlir::Type elementType);

/// A tensor of any element type in row-major order: floats of every width are
/// doubles, integers and booleans (0 or 1) are int64_t; an unsigned 64-bit
/// element is kept as its bit pattern. Only the vector of its kind is filled.
struct HostTensor {
  llvm::SmallVector<int64_t> shape;
  ElementKind kind = ElementKind::Float;
  std::vector<double> floats;
  std::vector<int64_t> ints;

  /// Zeros (false) in the shape and kind of `type`.
  static HostTensor zeros(mlir::RankedTensorType type);
  static HostTensor zeros(llvm::ArrayRef<int64_t> shape, ElementKind kind);
  static HostTensor ofFloats(llvm::ArrayRef<int64_t> shape,
                             std::vector<double> values);
  static HostTensor ofInts(llvm::ArrayRef<int64_t> shape,
                           std::vector<int64_t> values);

  int64_t numElements() const;
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }

  /// The elements as T: double for floats, int64_t or uint64_t for the others.
  template <typename T> T *data() {
    if constexpr (std::is_same_v<T, double>)
      return floats.data();
    else
      return reinterpret_cast<T *>(ints.data());
  }
  template <typename T> const T *data() const {
    return const_cast<HostTensor *>(this)->data<T>();
  }
};

/// Calls `f` with a zero of the type that stores elements of `kind`.
template <typename F> auto withStorage(ElementKind kind, F f) {
  return kind == ElementKind::Float ? f(double()) : f(int64_t());
}

/// Calls `f` with a zero of the type that computes with `elementType`: double,
/// int64_t, or uint64_t for unsigned integers.
template <typename F> auto withArithmetic(mlir::Type elementType, F f) {
  if (llvm::isa<mlir::FloatType>(elementType))
    return f(double());
  return elementType.isUnsignedInteger() ? f(uint64_t()) : f(int64_t());
}

/// Whether `attr` can be read here: dense integers or floats.
bool isReadable(mlir::Attribute attr);

/// The elements of a constant that isReadable.
HostTensor toHost(mlir::DenseElementsAttr attr);

/// The constant of `type` with these elements, rounded or wrapped to its
/// element type; equal elements become a splat.
mlir::DenseElementsAttr toAttribute(const HostTensor &tensor,
                                    mlir::RankedTensorType type);

/// Rounds floats to the nearest value of `elementType`, halves to even, and
/// wraps integers to its width.
void roundTo(mlir::Type elementType, HostTensor &tensor);

/// Wraps integers to the width of `elementType`; floats stay.
void wrapTo(mlir::Type elementType, HostTensor &tensor);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_HOSTTENSOR_H
