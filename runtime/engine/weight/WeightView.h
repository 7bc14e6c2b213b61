//===- WeightView.h - a stored tensor seen through its transforms ---------===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H
#define PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H

#include "runtime/program/Program.h"
#include "runtime/tensor/RandomValues.h"

#include <optional>

namespace pcc::runtime {

/// Elements of a parameter before its layout: transposes, slices and reshapes
/// are arithmetic on offset and strides; casts are applied when elements are
/// read. Only a reshape that cuts across strides copies the tensor.
class WeightView {
public:
  /// `stored` points to the tensor in its file, at any address.
  WeightView(const program::ParameterT &parameter, const void *stored);
  /// Elements come from a generator instead.
  WeightView(const program::ParameterT &parameter, const RandomTensor &random);

  /// Address of the local piece if it lies in the file exactly as the buffer
  /// wants it: dense, without padding, of the wanted type and aligned to it.
  const void *findInPlace(const Layout &layout, const Mesh &mesh,
                          const Coordinates &at) const;

  /// Where the elements of the local piece are in the generator's numbers and
  /// in the piece; nothing where the tensor had to be copied.
  std::optional<std::vector<StridedCopy>>
  findGenerated(const Layout &layout, const Mesh &mesh,
                const Coordinates &at) const;

  /// Writes the local piece, padding included (zero), to `target`.
  void read(const Layout &layout, const Mesh &mesh, const Coordinates &at,
            void *target) const;

private:
  void applyTransforms(const program::ParameterT &parameter);
  void transpose(const program::TransposeT &step);
  void slice(const program::SliceT &step);
  void reshape(const program::ReshapeT &step);
  bool reshapeStrides(const std::vector<int64_t> &shape);
  void materialize();

  std::vector<StridedCopy> copies(const Layout &layout, const Mesh &mesh,
                                  const Coordinates &at) const;
  void readCopy(const StridedCopy &copy, char *target) const;
  void readRow(int64_t offset, int64_t stride, int64_t count,
               void *target) const;

  const char *stored = nullptr;
  std::optional<RandomTensor> random;
  std::vector<char> owned; ///< what materialize() read
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  std::vector<ElementType> types; ///< as stored, then after each cast
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H
