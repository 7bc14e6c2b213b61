//===- HostTensor.h - dense tensor in host memory -------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_HOSTTENSOR_H
#define PCC_DIALECTS_GRAPH_REFERENCE_HOSTTENSOR_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <type_traits>
#include <vector>

namespace pcc::graph {

/// Kind of storage of a tensor's elements in host memory.
enum class ElementKind : uint8_t { Float, Int, Bool };

/// Returns the kind that stores elements of `elementType`. Bool stores i1; Int
/// stores all other integers.
ElementKind kindOf(mlir::Type elementType);

/// A dense tensor in host memory, in row-major order. Floats of every width are
/// stored as double; integers, and booleans as 0 or 1, are stored as int64_t.
/// An unsigned 64-bit element is stored as the int64_t of equal bits.
///
/// Invariant: one of `floats` and `ints`, as `kind` determines, has
/// numElements() entries; the other vector is empty.
struct HostTensor {
  llvm::SmallVector<int64_t> shape;
  ElementKind kind = ElementKind::Float;
  /// Elements if `kind` is Float.
  std::vector<double> floats;
  /// Elements if `kind` is Int or Bool.
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

/// Calls `f` with a zero of the type that stores elements of `kind`, double or
/// int64_t, and returns the result of `f`. Only the type of the zero matters.
template <typename F> auto withStorage(ElementKind kind, F f) {
  return kind == ElementKind::Float ? f(double()) : f(int64_t());
}

/// Calls `f` with a zero of the type in which elements of `elementType` are
/// computed, and returns the result of `f`. The type is double for floats,
/// uint64_t for unsigned integers and int64_t for all others.
template <typename F> auto withArithmetic(mlir::Type elementType, F f) {
  if (llvm::isa<mlir::FloatType>(elementType))
    return f(double());
  return elementType.isUnsignedInteger() ? f(uint64_t()) : f(int64_t());
}

/// Returns whether toHost() can read `attr`: a dense constant of integers or
/// floats. `attr` may be null.
bool isReadable(mlir::Attribute attr);

/// Copies the elements of a constant. Requires isReadable(attr).
HostTensor toHost(mlir::DenseElementsAttr attr);

/// Returns a constant of `type` with the elements of `tensor`. Floats are
/// rounded to the element type, integers wrapped to its width. The constant is
/// a splat if all elements have equal bits.
mlir::DenseElementsAttr toAttribute(const HostTensor &tensor,
                                    mlir::RankedTensorType type);

/// Rounds floats to the nearest value of `elementType`, ties to even, and wraps
/// integers to its width.
void roundTo(mlir::Type elementType, HostTensor &tensor);

/// Wraps integers to the width of `elementType`. Floats and booleans are not
/// changed.
void wrapTo(mlir::Type elementType, HostTensor &tensor);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_HOSTTENSOR_H
