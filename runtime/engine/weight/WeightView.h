//===- WeightView.h - strided view of a stored weight ---------------------===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H
#define PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H

#include "runtime/program/Program.h"
#include "runtime/tensor/RandomValues.h"

#include <optional>

namespace pcc::runtime {

/// A view of a stored weight as a parameter of the program. Transposes, slices
/// and most reshapes only change offset and strides. Casts are applied when
/// elements are read.
///
/// Example, with offset and strides in elements:
///
///   stored [768, 2304]   offset 0     strides [2304, 1]
///   slice dim 1 at 768   offset 768   strides [2304, 1]   shape [768, 768]
///   transpose            offset 768   strides [1, 2304]
class WeightView {
public:
  /// Creates a view of the tensor at address `stored` in a mapped file. The
  /// address may be unaligned. The file is borrowed.
  WeightView(const program::ParameterT &parameter, const void *stored);
  /// Creates a view of a tensor with randomly generated elements.
  WeightView(const program::ParameterT &parameter, const RandomTensor &random);

  /// Returns the address of this rank's shard in the mapped weight file.
  /// Returns null if the shard needs a copy, because it is not contiguous in
  /// the file, has padding, is not aligned, needs a cast, or is generated.
  const void *findInPlace(const Layout &layout, const Mesh &mesh,
                          const Coordinates &at) const;

  /// Lists the random elements in this rank's dense shard. Each StridedCopy (a
  /// loop nest) maps indices of the random generator to indices in the shard.
  /// Returns std::nullopt if the elements are in memory.
  std::optional<std::vector<StridedCopy>>
  findGenerated(const Layout &layout, const Mesh &mesh,
                const Coordinates &at) const;

  /// Writes this rank's shard to `target`, dense and row-major. Padding becomes
  /// zero.
  void read(const Layout &layout, const Mesh &mesh, const Coordinates &at,
            void *target) const;

private:
  /// Applies the parameter's transforms in order to offset, shape and strides
  /// of the view. A cast appends a type to `types`.
  void applyTransforms(const program::ParameterT &parameter);
  void transpose(const program::TransposeT &step);
  void slice(const program::SliceT &step);
  void reshape(const program::ReshapeT &step);
  /// Changes the view's shape to `shape` without copying elements. Returns
  /// false, and changes nothing, if this is not possible.
  bool reshapeStrides(const std::vector<int64_t> &shape);
  /// Copies all elements of the view into `owned`, dense and with all casts
  /// applied. The view then refers to `owned`.
  void materialize();

  /// Returns a list of strided copies that together copy this rank's shard from
  /// the view to dense memory. `layout` describes the shard.
  std::vector<StridedCopy> copies(const Layout &layout, const Mesh &mesh,
                                  const Coordinates &at) const;
  /// Executes `copy`, one strided copy from the view to `target`, row by row.
  /// Applies the parameter's casts to each row.
  void readCopy(const StridedCopy &copy, char *target) const;
  /// Reads `count` elements (at most 1024) of the tensor, with stride `stride`,
  /// from element `offset` on. Applies the parameter's casts, and writes the
  /// elements contiguously to `target`.
  void readRow(int64_t offset, int64_t stride, int64_t count,
               void *target) const;

  /// Address of the tensor's first stored element; null for generated elements.
  const char *stored = nullptr;
  /// Parameters of the random generator; empty if the elements are in memory.
  std::optional<RandomTensor> random;
  /// Dense copy of all elements that materialize() makes. `stored` points to
  /// this copy. Empty if materialize() was not called.
  std::vector<char> owned;
  /// Number of elements from address `stored` to the view's first element.
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  /// The element type of the stored tensor, followed by the type after each
  /// cast.
  std::vector<ElementType> types;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H
