//===- HostTensor.h - dense tensor in host memory -------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_HOSTTENSOR_H
#define PCC_DIALECTS_GRAPH_REFERENCE_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <type_traits>
#include <vector>

namespace pcc::graph {

/// Kind of the elements of a tensor: Float is stored as double, Int and Bool as
/// int64_t.
enum class ElementKind : uint8_t { Float, Int, Bool };

/// Returns the kind of elements of type `elementType`: Float for floats, Bool
/// for i1, and Int for all other integers.
ElementKind kindOf(mlir::Type elementType);

/// A dense row-major tensor in host memory. Floats of every width are stored as
/// double. Integers and booleans (0 or 1) are stored as int64_t. Unsigned
/// 64-bit integers keep their bits.
struct HostTensor {
  llvm::SmallVector<int64_t> shape;
  ElementKind kind = ElementKind::Float;
  /// The elements if `kind` is Float; otherwise empty.
  std::vector<double> floats;
  /// The elements if `kind` is Int or Bool; otherwise empty.
  std::vector<int64_t> ints;

  /// Returns a tensor of zeros (false for booleans).
  static HostTensor zeros(mlir::RankedTensorType type);
  static HostTensor zeros(llvm::ArrayRef<int64_t> shape, ElementKind kind);
  /// Returns a tensor of kind Float that holds `values` in row-major order.
  static HostTensor ofFloats(llvm::ArrayRef<int64_t> shape,
                             std::vector<double> values);
  /// Returns a tensor of kind Int that holds `values` in row-major order.
  static HostTensor ofInts(llvm::ArrayRef<int64_t> shape,
                           std::vector<int64_t> values);

  /// Returns the product of the sizes in `shape`.
  int64_t numElements() const;
  /// Returns the number of dims.
  int64_t rank() const { return static_cast<int64_t>(shape.size()); }

  /// Returns the elements as an array of T. T must match `kind`: double for
  /// Float, int64_t or uint64_t for Int and Bool.
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

/// Calls `f` with a zero of the type that stores elements of `kind`: double for
/// Float, int64_t for Int and Bool. `f` reads only the type of the zero.
/// Returns the result of `f`.
template <typename F> auto withStorage(ElementKind kind, F f) {
  return kind == ElementKind::Float ? f(double()) : f(int64_t());
}

/// Calls `f` with a zero of the type for arithmetic on `elementType`: double
/// for floats, uint64_t for unsigned integers, int64_t for all others. `f`
/// reads only the type of the zero. Returns the result of `f`.
template <typename F> auto withArithmetic(mlir::Type elementType, F f) {
  if (llvm::isa<mlir::FloatType>(elementType))
    return f(double());
  return elementType.isUnsignedInteger() ? f(uint64_t()) : f(int64_t());
}

/// Returns whether toHost() can read `attr`, a dense constant of integers or
/// floats. `attr` may be null.
bool isReadable(mlir::Attribute attr);

/// Returns a tensor with the elements of the constant `attr`. isReadable(attr)
/// must be true.
HostTensor toHost(mlir::DenseElementsAttr attr);

/// Returns a constant of `type` with the elements of `tensor`, rounded (floats)
/// or wrapped (integers) to the element type. Equal elements give a splat.
mlir::DenseElementsAttr toAttribute(const HostTensor &tensor,
                                    mlir::RankedTensorType type);

/// Rounds each float element of `tensor` to the nearest value of `elementType`,
/// ties to even. Wraps each integer element to the width of `elementType`.
void roundTo(mlir::Type elementType, HostTensor &tensor);

/// Wraps each integer element of `tensor` to the width of `elementType`. Does
/// not change floats and booleans.
void wrapTo(mlir::Type elementType, HostTensor &tensor);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_HOSTTENSOR_H
