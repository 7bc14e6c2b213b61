//===- WeightView.h - strided view of a stored weight ---------------------===//

#ifndef PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H
#define PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H

#include "runtime/program/Program.h"
#include "runtime/tensor/RandomValues.h"

#include <optional>

namespace pcc::runtime {

/// Reads a parameter from a tensor in a weight file, or from a randomly
/// generated tensor. The program lists the transforms from the tensor to the
/// parameter: transposes, slices, reshapes and casts. An offset and strides, in
/// elements, locate the parameter within the tensor. Transposes, slices and
/// most reshapes change only these numbers and the shape. Other reshapes copy
/// the elements. Casts are applied when elements are read. Example:
///
///   stored [768, 2304]   offset 0     strides [2304, 1]
///   slice dim 1 at 768   offset 768   strides [2304, 1]   shape [768, 768]
///   transpose            offset 768   strides [1, 2304]
class WeightView {
public:
  /// Creates an object that reads a parameter from a tensor in a mapped weight
  /// file. `stored` is the (possibly unaligned) address of the tensor's first
  /// element. The file must stay mapped as long as the object is used.
  /// `parameter` contains the shape and the element type of the tensor, and the
  /// transforms that turn the tensor into the parameter, such as a transpose.
  WeightView(const program::ParameterT &parameter, const void *stored);
  /// Creates an object that reads a parameter from a randomly generated tensor.
  WeightView(const program::ParameterT &parameter, const RandomTensor &random);

  /// Returns the address of this rank's shard in the mapped weight file.
  /// Returns null if the shard needs a copy, because it is not contiguous in
  /// the file, has padding, is not aligned, needs a cast, or consists of random
  /// elements.
  const void *findInPlace(const Layout &layout, const Mesh &mesh,
                          const Coordinates &at) const;

  /// Returns loop nests that fill this rank's shard with random elements.
  /// Returns std::nullopt if the elements are not random. Each iteration of a
  /// loop nest generates one element. The iteration has two indices:
  ///
  /// - The source index is the index of the element in the whole stored tensor.
  ///   The random generator computes the element's value from this index.
  /// - The target index is the index of the element in the shard.
  ///
  /// Example: the stored tensor has the shape [4, 8], and the shard is rows 2
  /// and 3. The source indices 16 to 31 then belong to the target indices 0 to
  /// 15.
  std::optional<std::vector<StridedCopy>>
  findGenerated(const Layout &layout, const Mesh &mesh,
                const Coordinates &at) const;

  /// Writes this rank's shard to `target`, dense and row-major. Padding becomes
  /// zero.
  void read(const Layout &layout, const Mesh &mesh, const Coordinates &at,
            void *target) const;

private:
  /// Applies the transforms of `parameter`, one after the other. The transforms
  /// turn the tensor in the weight file into the parameter. Each transform is a
  /// transpose, a slice, a reshape or a cast. A transpose, slice or reshape
  /// changes the members `offset`, `shape` and `strides`. A reshape may also
  /// copy the elements. A cast appends its element type to `types`.
  void applyTransforms(const program::ParameterT &parameter);
  void transpose(const program::TransposeT &step);
  void slice(const program::SliceT &step);
  void reshape(const program::ReshapeT &step);
  /// Changes the shape of the parameter to `shape` without copying elements.
  /// Returns false, and changes nothing, if this is not possible.
  bool reshapeStrides(const std::vector<int64_t> &shape);
  /// Copies all elements, after the transforms so far, into the array `owned`,
  /// in row-major order and without gaps. If these transforms include casts,
  /// the array contains the elements after the casts. For example, the elements
  /// are float32 in the weight file, and bfloat16 in the array. After the call,
  /// this object reads the array, and no longer the weight file or the random
  /// generator.
  void materialize();

  /// Returns loop nests that copy this rank's shard of the parameter to dense
  /// memory. The function itself copies no elements. The loop nests do not copy
  /// padding. A shard has padding if it extends beyond the end of the
  /// parameter. `layout` tells how the parameter is sharded over `mesh`.
  ///
  /// For example, dim 0 of a stored tensor of shape [4, 8] is sharded over two
  /// ranks. The second rank gets one loop nest. It copies elements 16 to 31 of
  /// the stored tensor to indices 0 to 15 of the dense memory.
  std::vector<StridedCopy> copies(const Layout &layout, const Mesh &mesh,
                                  const Coordinates &at) const;
  /// Executes the loop nest `copy`: copies elements of the stored tensor to
  /// `target`. Applies the casts of the parameter to the elements. A cast
  /// converts an element to another element type, such as float32 to bfloat16.
  /// The source indices of `copy` are indices in the stored tensor. The target
  /// indices are indices in `target`.
  void readCopy(const StridedCopy &copy, char *target) const;
  /// Reads `count` elements of the stored tensor, or generates them if they are
  /// random. Then converts the elements to another element type, if the program
  /// casts the tensor. For example, a cast converts float32 to bfloat16.
  /// Several casts are applied one after the other. Finally writes the elements
  /// to `target` without gaps.
  ///
  /// `offset` is the index of the first element in the stored tensor, and
  /// `stride` is the distance between two consecutive elements. For example, if
  /// `offset` is 5, `stride` is 3 and `count` is 4, the function reads the
  /// elements with the indices 5, 8, 11 and 14. `count` is at most 1024,
  /// because the temporary arrays for the casts have 1024 elements.
  void readRow(int64_t offset, int64_t stride, int64_t count,
               void *target) const;

  /// Address of the tensor's first stored element; null for generated elements.
  const char *stored = nullptr;
  /// Numbers from which the random elements of the tensor are computed.
  /// `random` is set if the elements are randomly generated instead of read
  /// from a weight file. `random` is empty if the elements are in memory at the
  /// address `stored`.
  std::optional<RandomTensor> random;
  /// Array to which materialize() copies all elements in row-major order.
  /// materialize() also sets the member `stored` to the address of this array.
  /// A reshape calls materialize() if no strides describe the tensor after the
  /// reshape. If no reshape has called materialize(), the array is empty.
  std::vector<char> owned;
  /// Number of elements from address `stored` to the first element of the
  /// parameter.
  int64_t offset = 0;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  /// The element type of the stored tensor, followed by the type after each
  /// cast.
  std::vector<ElementType> types;
};

} // namespace pcc::runtime

#endif // PCC_RUNTIME_ENGINE_WEIGHT_WEIGHTVIEW_H
