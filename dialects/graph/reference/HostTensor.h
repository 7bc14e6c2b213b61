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

  /// Returns a pointer to the first element. The elements follow each other in
  /// row-major order. If `kind` is Float, T must be double. If `kind` is Int or
  /// Bool, T must be int64_t or uint64_t. With uint64_t, the caller accesses
  /// the same 64 bits as an unsigned integer.
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

/// Returns f(zero), where `zero` is a 0 of the C++ type in which HostTensor
/// stores elements of `kind`. `f` is a generic lambda that gets this type by
/// decltype(zero).
template <typename F> auto withStorage(ElementKind kind, F f) {
  return kind == ElementKind::Float ? f(double()) : f(int64_t());
}

/// Returns f(zero), where `zero` is a 0 of the C++ type for arithmetic with
/// elements of `elementType`: double, uint64_t or int64_t. `f` is a generic
/// lambda that gets this type by decltype(zero).
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

/// Returns a constant of `type` with the elements of `tensor`. Rounds each
/// float to the nearest value of the element type, ties to even. Truncates each
/// integer to the width of the element type: only the low bits remain. If all
/// elements of `tensor` have equal bits, the constant is a splat, which stores
/// only one element.
mlir::DenseElementsAttr toAttribute(const HostTensor &tensor,
                                    mlir::RankedTensorType type);

/// Rounds the elements of a Float `tensor` to the nearest value of
/// `elementType`, ties to even. Wraps the elements of an Int `tensor` to the
/// range of `elementType`: 200 becomes -56 for i8. Does not change a Bool
/// `tensor`.
void roundTo(mlir::Type elementType, HostTensor &tensor);

/// Converts the integer elements of `tensor` to the range of the integer type
/// `elementType`. Adds a multiple of 2^w to each element, where w is the number
/// of bits of `elementType`. The multiple is chosen so that the sum is in the
/// range of `elementType`. For example, 200 becomes 200 - 256 = -56 for i8, and
/// 300 becomes 300 - 256 = 44 for ui8. If `tensor` has kind Float or Bool, does
/// not change the elements.
void wrapTo(mlir::Type elementType, HostTensor &tensor);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_HOSTTENSOR_H
