//===- WeightView.h - strided view of a stored weight ---------------------===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H
#define PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H

#include "runtime/program/Program.h"
#include "runtime/tensor/RandomValues.h"

#include <optional>

namespace pcc::runtime {

/// A view of a stored weight as a parameter of the program. The parameter's
/// transforms are applied without a copy where possible:
///
/// - Transposes, slices and reshapes change offset and strides.
/// - Casts are applied when elements are read.
/// - A reshape that strides cannot express copies the tensor first.
///
/// Example, with offset and strides in elements:
///
///   stored [768, 2304]   offset 0     strides [2304, 1]
///   slice dim 1 at 768   offset 768   strides [2304, 1]   shape [768, 768]
///   transpose            offset 768   strides [1, 2304]
class WeightView {
public:
  /// Creates a view of the tensor at address `stored` in a mapped file. The
  /// address may be unaligned, and must stay valid as long as this object.
  WeightView(const program::ParameterT &parameter, const void *stored);
  /// Creates a view of a tensor whose elements come from the counter-based
  /// random generator.
  WeightView(const program::ParameterT &parameter, const RandomTensor &random);

  /// Returns the address of this rank's shard within the mapped file, if the
  /// file has it exactly as the buffer needs it: dense, without padding,
  /// aligned, and of the parameter's type. Returns null otherwise.
  const void *findInPlace(const Layout &layout, const Mesh &mesh,
                          const Coordinates &at) const;

  /// Returns a mapping from generated elements to this rank's dense shard. Each
  /// StridedCopy maps an element index of the random generator (source) to an
  /// index in the shard (target). Returns std::nullopt if the elements do not
  /// come from the generator, for instance after a reshape that copied the
  /// tensor.
  std::optional<std::vector<StridedCopy>>
  findGenerated(const Layout &layout, const Mesh &mesh,
                const Coordinates &at) const;

  /// Writes this rank's shard to `target`, dense and row-major, with zeros as
  /// padding.
  void read(const Layout &layout, const Mesh &mesh, const Coordinates &at,
            void *target) const;

private:
  /// Applies the parameter's transforms in order. Transposes, slices and
  /// reshapes change offset, shape and strides of the view; a cast appends a
  /// type to `types`.
  void applyTransforms(const program::ParameterT &parameter);
  void transpose(const program::TransposeT &step);
  void slice(const program::SliceT &step);
  void reshape(const program::ReshapeT &step);
  /// Changes the view's shape to `shape`, and its strides accordingly. Returns
  /// false, and changes nothing, if no strides can express the new shape
  /// without a copy.
  bool reshapeStrides(const std::vector<int64_t> &shape);
  /// Copies all elements of the view into `owned`, dense and with all casts
  /// applied. Later calls then read from `owned` instead of the mapped file.
  void materialize();

  /// Returns the copies from the view to this rank's dense shard. `layout`
  /// determines which elements of the view the shard has.
  std::vector<StridedCopy> copies(const Layout &layout, const Mesh &mesh,
                                  const Coordinates &at) const;
  /// Executes one copy of a shard into `target`, and applies the casts, row by
  /// row.
  void readCopy(const StridedCopy &copy, char *target) const;
  /// Reads `count` elements (at most 1024) from element `offset` on with stride
  /// `stride`. Writes them contiguously to `target` in the type after all
  /// casts.
  void readRow(int64_t offset, int64_t stride, int64_t count,
               void *target) const;

  /// Address of the tensor's first stored element; null for generated elements.
  const char *stored = nullptr;
  /// Parameters of the random generator; empty if the tensor's elements are
  /// stored in memory.
  std::optional<RandomTensor> random;
  /// Memory of the dense copy that materialize() makes. `stored` then points to
  /// this memory. Empty before materialize().
  std::vector<char> owned;
  /// Distance from `stored` to the view's first element, in elements. The unit
  /// of `strides` is elements, too.
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  /// The element type of the stored tensor, followed by the type after each
  /// cast.
  std::vector<ElementType> types;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H
