//===- WeightView.h - strided view of a stored weight ---------------------===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H
#define PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H

#include "runtime/program/Program.h"
#include "runtime/tensor/RandomValues.h"

#include <optional>

namespace pcc::runtime {

/// The elements of a parameter after its transforms. Transposes, slices and
/// reshapes only change offset and strides; casts are applied when elements are
/// read. A reshape that no strides can express copies the tensor first.
///
///   stored [768, 2304]   offset 0     strides [2304, 1]
///   slice dim 1 at 768   offset 768   strides [2304, 1]   shape [768, 768]
///   transpose            offset 768   strides [1, 2304]
class WeightView {
public:
  /// Views the tensor at address `stored` in its mapped file, which may be
  /// unaligned. Borrowed.
  WeightView(const program::ParameterT &parameter, const void *stored);
  /// Views a tensor whose elements come from a counter-based generator.
  WeightView(const program::ParameterT &parameter, const RandomTensor &random);

  /// Returns the address of the local piece within the file if it lies there
  /// exactly as the buffer needs it: dense, without padding, of the wanted type
  /// and aligned to it. Returns null otherwise.
  const void *findInPlace(const Layout &layout, const Mesh &mesh,
                          const Coordinates &at) const;

  /// Returns the copies from the generator's element numbers to the elements of
  /// the local piece. Empty if elements do not come from the generator, for
  /// instance after a reshape that copied the tensor.
  std::optional<std::vector<StridedCopy>>
  findGenerated(const Layout &layout, const Mesh &mesh,
                const Coordinates &at) const;

  /// Writes the local piece to `target`, row-major, with zeros as padding.
  void read(const Layout &layout, const Mesh &mesh, const Coordinates &at,
            void *target) const;

private:
  /// Applies the parameter's transforms to offset, shape and strides, in order.
  void applyTransforms(const program::ParameterT &parameter);
  void transpose(const program::TransposeT &step);
  void slice(const program::SliceT &step);
  void reshape(const program::ReshapeT &step);
  /// Expresses a reshape by strides. Returns false, and changes nothing, if
  /// that is impossible.
  bool reshapeStrides(const std::vector<int64_t> &shape);
  /// Copies all elements into `owned`, dense and in the final type.
  void materialize();

  /// Returns the copies from the view to the dense local piece of `layout`.
  std::vector<StridedCopy> copies(const Layout &layout, const Mesh &mesh,
                                  const Coordinates &at) const;
  /// Executes one copy, and applies the casts row by row.
  void readCopy(const StridedCopy &copy, char *target) const;
  /// Reads `count` elements, at most 1024, densely and in the final type.
  void readRow(int64_t offset, int64_t stride, int64_t count,
               void *target) const;

  /// Address of the tensor's first stored element; null for generated elements.
  const char *stored = nullptr;
  /// The generator; empty for stored elements.
  std::optional<RandomTensor> random;
  /// Elements that materialize() copied; `stored` points here then.
  std::vector<char> owned;
  /// Elements from `stored` to the view's first element. Strides are in
  /// elements, too.
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  /// The stored element type, then the type after each cast.
  std::vector<ElementType> types;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H
