//===- Strides.h - iteration over strided tensors -------------------------===//

#ifndef PCC_DIALECTS_GRAPH_REFERENCE_STRIDES_H
#define PCC_DIALECTS_GRAPH_REFERENCE_STRIDES_H

#include "dialects/graph/reference/HostTensor.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>

namespace pcc::graph {

/// Strides of a tensor in memory: per dim, the number of elements from one
/// index to the next.
using Strides = llvm::SmallVector<int64_t>;

/// Returns the strides of a dense row-major tensor of `shape`.
inline Strides rowMajor(llvm::ArrayRef<int64_t> shape) {
  Strides strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// Returns strides by which a loop over shape `to` reads a dense tensor of
/// shape `from`. The stride is 0 along each broadcast dim:
///
///   [3, 1] to [2, 3, 4]:  {0, 1, 0}
inline Strides broadcastStrides(llvm::ArrayRef<int64_t> from,
                                llvm::ArrayRef<int64_t> to) {
  Strides strides(to.size(), 0), own = rowMajor(from);
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1)
      strides[to.size() - from.size() + i] = own[i];
  return strides;
}

/// Merges adjacent dims of N tensors of shape `shape`, where the strides of all
/// tensors allow it. Removes dims of size 1. Updates `shape` and `strides`. A
/// loop over the new dims visits the same elements in the same order:
///
///   [2, 3] with strides {3, 1} and {6, 2} becomes [6] with {1} and {2}
template <size_t N>
void mergeDims(Strides &shape, std::array<Strides, N> &strides) {
  Strides mergedShape;
  std::array<Strides, N> merged;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == 1)
      continue;
    bool continues = !mergedShape.empty();
    for (size_t k = 0; k < N && continues; ++k)
      continues = merged[k].back() == strides[k][dim] * shape[dim];
    if (continues)
      mergedShape.back() *= shape[dim];
    else
      mergedShape.push_back(shape[dim]);
    for (size_t k = 0; k < N; ++k) {
      if (continues)
        merged[k].pop_back();
      merged[k].push_back(strides[k][dim]);
    }
  }
  shape = std::move(mergedShape);
  strides = std::move(merged);
}

/// Visits the elements of N tensors of shape `dims` together, in row-major
/// order. Calls row(offsets, count, steps) for each run of `count` elements.
/// Element i of a run is at `offsets[k] + i * steps[k]` in tensor k. A run
/// covers at least the last dim.
template <size_t N, typename Row>
void forEachRow(llvm::ArrayRef<int64_t> dims, std::array<Strides, N> strides,
                Row row) {
  if (llvm::is_contained(dims, 0))
    return;
  Strides shape(dims);
  mergeDims(shape, strides);
  std::array<int64_t, N> offsets{}, steps{};
  if (shape.empty())
    return row(offsets, int64_t(1), steps);
  for (size_t k = 0; k < N; ++k)
    steps[k] = strides[k].back();
  Strides index(shape.size(), 0);
  for (int dim = 0; dim >= 0;) {
    row(offsets, shape.back(), steps);
    for (dim = static_cast<int>(shape.size()) - 2; dim >= 0; --dim) {
      for (size_t k = 0; k < N; ++k)
        offsets[k] += strides[k][dim];
      if (++index[dim] < shape[dim])
        break;
      for (size_t k = 0; k < N; ++k)
        offsets[k] -= strides[k][dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

/// Copies the elements of a tensor of `shape` between two strided layouts in
/// memory that do not overlap.
template <typename T>
void copyStrided(llvm::ArrayRef<int64_t> shape, T *to, Strides toStrides,
                 const T *from, Strides fromStrides) {
  forEachRow<2>(shape, {std::move(toStrides), std::move(fromStrides)},
                [&](auto offsets, int64_t count, auto steps) {
                  T *out = to + offsets[0];
                  const T *in = from + offsets[1];
                  if (steps[0] == 1 && steps[1] == 1)
                    std::copy(in, in + count, out);
                  else
                    for (int64_t i = 0; i < count; ++i)
                      out[i * steps[0]] = in[i * steps[1]];
                });
}

/// A dense tensor viewed as a tensor [outer, dim, inner] of rank 3. `outer`
/// combines all dims before the chosen dim, and `inner` all dims after it.
struct DimView {
  /// Sizes of the tensor after a reshape to [outer, dim, inner]. For the tensor
  /// [2, 3, 4, 5] with the chosen dim 1, the sizes are 2, 3 and 20.
  int64_t numOuter = 1, size = 1, numInner = 1;

  /// Computes the three sizes for a tensor of `shape` and the chosen dim `dim`.
  DimView(llvm::ArrayRef<int64_t> shape, int64_t dim)
      : numOuter(mlir::ShapedType::getNumElements(shape.take_front(dim))),
        size(shape[dim]),
        numInner(mlir::ShapedType::getNumElements(shape.drop_front(dim + 1))) {}
  /// Returns the row-major index of the element [outer, i, inner] of the tensor
  /// after the reshape to [numOuter, size, numInner].
  int64_t at(int64_t outer, int64_t i, int64_t inner) const {
    return (outer * size + i) * numInner + inner;
  }
};

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_REFERENCE_STRIDES_H
