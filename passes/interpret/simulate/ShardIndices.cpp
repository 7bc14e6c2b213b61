//===- ShardIndices.cpp - global indices of a rank's elements -------------===//

#include "passes/interpret/simulate/ShardIndices.h"
#include "dialects/graph/reference/Strides.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

/// Changes each entry of `indices` from an index into a view to an index into
/// the dim that the view reads. A view is a windowed read of a dim, such as a
/// halo exchange. If the view reads no element at an index, the entry becomes
/// `hole`. Negative entries stay as they are: they are padding.
///
/// Example: 4 ranks split a dim of 16 elements. Each rank reads its own 4
/// elements and one neighbor on each side. The view therefore has 4 blocks of 6
/// indices. Rank 0 has the first block, and rank 1 has the second one:
///
///   rank 0:   0, 1, 2, 3, 4, 5     becomes   hole, 0, 1, 2, 3, 4
///   rank 1:   6, 7, 8, 9, 10, 11   becomes   3, 4, 5, 6, 7, 8
static void seeThrough(const dist::View &view, std::vector<int64_t> &indices) {
  for (int64_t &index : indices)
    if (index >= 0)
      index = view.elementAt(index).value_or(hole);
}

/// Computes the global indices of the elements that one rank holds of a dim.
/// The dim has `size` elements. `where` is the coordinates of the rank in
/// `mesh`. `dim` is the sharding of the dim. A sharding has a list of factors.
/// If the sharding has no view (explained below), the product of the factors is
/// the size of the dim. For example, a dim of 192 elements has the sharding
/// [3|64@tp]. The factors are 3 and 64: the dim has 3 blocks of 64 elements.
/// The mesh axis tp has 2 ranks and splits the factor 64. Therefore each rank
/// holds one half of each block.
///
/// The list `indices` begins with the single entry 0. The loop processes one
/// factor after another. A factor of size n has the positions 0 to n − 1. If no
/// mesh axis splits the factor, the rank holds all positions. If a mesh axis
/// splits the factor, the rank holds one part of the positions. The loop
/// replaces each entry e of the list by several entries: for each position i
/// that the rank holds, it adds the entry e · n + i. In the example, the rank
/// at the tp coordinate 0 gets these lists:
///
///   factor   positions of the rank   the list after the factor
///   3        0, 1, 2                 0, 1, 2
///   64@tp    0 … 31                  0 … 31, 64 … 95, 128 … 159
///
/// For example, the factor 64@tp replaces the entry 1 by the entries 1 · 64 + 0
/// to 1 · 64 + 31, which are 64 … 95.
///
/// The lists of all ranks have the same length. For example, if 4 ranks split a
/// factor of size 30, the first three ranks hold 8 positions each, and the last
/// rank holds 6 positions. The last rank gets the entry `padding` for the two
/// missing positions.
///
/// The sharding may have a view, the field `dim.view`. A view is a list of
/// reads: each entry reads one element of the dim, and several entries may read
/// the same element. For example, in a halo exchange each rank reads its own
/// elements and some elements of its neighbors. If the sharding has a view, the
/// factors split the list of reads, and the product of the factors is the
/// length of this list. The loop then computes the indices of the reads that
/// the rank executes. At the end, seeThrough() replaces the index of each read
/// by the global index of the element that is read. If a read is outside of the
/// dim, seeThrough() replaces its index by `hole`.
///
/// Example of a view: 4 ranks split a dim of 16 elements, and each rank reads
/// its own 4 elements and one neighbor on each side. The list has 4 · 6 = 24
/// reads. The loop computes the read indices 6 … 11 for rank 1. seeThrough()
/// replaces them by the global indices 3 … 8.
std::vector<int64_t> interpret::localIndices(const dist::DimSharding &dim,
                                             int64_t size,
                                             const dist::Mesh &mesh,
                                             const dist::Coordinates &where) {
  std::vector<dist::Factor> factors = dim.factors;
  if (factors.empty())
    factors.push_back({dim.view ? dim.view->size() : size, {}});
  std::vector<int64_t> indices{0};
  for (const dist::Factor &factor : factors) {
    int64_t part = factor.localSize(),
            first = dist::coordinateOf(factor.axes, mesh, where) * part;
    std::vector<int64_t> nested;
    nested.reserve(indices.size() * part);
    for (int64_t outer : indices)
      for (int64_t i = first; i < first + part; ++i)
        nested.push_back(
            outer < 0 || i >= factor.size ? padding : outer * factor.size + i);
    indices = std::move(nested);
  }
  if (dim.view)
    seeThrough(*dim.view, indices);
  return indices;
}

LocalIndices interpret::localIndices(const dist::Sharding &sharding,
                                     ArrayRef<int64_t> shape,
                                     const dist::Mesh &mesh,
                                     const dist::Coordinates &where) {
  LocalIndices indices;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    indices.push_back(
        localIndices(sharding.dims[dim], shape[dim], mesh, where));
  return indices;
}

/// Fills `shard`, a new tensor of floats, with NaN and 0. Later, the caller
/// writes the elements that exist in the global tensor. `indices` has one list
/// per dim of the shard. An entry of a list is a global index, the constant
/// `padding` or the constant `hole`. In a matrix, the element in row r and
/// column c has entry r of the first list and entry c of the second list. There
/// are three cases:
///
///  - At least one entry of the element is `padding`. The element is in the
///    unused end of the shard's buffer. The element becomes NaN.
///  - No entry of the element is `padding`, but at least one entry is `hole`. A
///    windowed read, such as a halo exchange, reads outside of the global
///    tensor at this element. The element becomes 0.
///  - All entries of the element are global indices. The caller writes the
///    element later. Until then, the element is 0 if a list of `indices` has
///    the entry `hole`, and NaN if no list has the entry `hole`.
///
/// Example: `indices` is {{4, padding}, {hole, 0, padding}}. The shard has 2
/// rows of 3 elements:
///
///   row 0:   0     written later   NaN
///   row 1:   NaN   NaN             NaN
static void poison(LocalIndices indices, HostTensor &shard) {
  llvm::fill(shard.floats, std::numeric_limits<double>::quiet_NaN());
  bool hasHoles = false;
  for (std::vector<int64_t> &dim : indices)
    for (int64_t &index : dim) {
      hasHoles |= index == hole;
      index = index == padding ? padding : 0;
    }
  if (hasHoles)
    forEachElement(indices, SmallVector<int64_t>(indices.size(), 1),
                   [&](int64_t local, int64_t) { shard.floats[local] = 0; });
}

LocalIndices interpret::allIndices(ArrayRef<int64_t> shape) {
  LocalIndices all;
  for (int64_t size : shape) {
    std::vector<int64_t> &dim = all.emplace_back(size);
    std::iota(dim.begin(), dim.end(), 0);
  }
  return all;
}

HostTensor interpret::emptyShard(const LocalIndices &indices,
                                 graph::ElementKind kind, Padding padding) {
  SmallVector<int64_t> shape;
  for (const std::vector<int64_t> &dim : indices)
    shape.push_back(static_cast<int64_t>(dim.size()));
  HostTensor shard = HostTensor::zeros(shape, kind);
  if (padding == Padding::Poison && !shard.floats.empty())
    poison(indices, shard);
  return shard;
}

namespace {
/// Calls the function `visit` for each element of a shard. A shard is the part
/// of a global tensor that one rank holds. The member function run() is
/// recursive: the call for one dim loops over the indices of this dim, and
/// calls run() for the next dim.
struct ElementWalk {
  const LocalIndices &indices;
  graph::Strides localStrides, globalStrides;
  llvm::function_ref<void(int64_t, int64_t)> visit;

  /// Calls `visit` for each element in a part of the shard. All elements of the
  /// part have equal indices in the dims before `dim`. These indices are the
  /// fixed indices of the part. For example, if the shard is a matrix, there
  /// are three cases:
  ///
  ///  - For dim = 0, the part is the whole matrix. There is no fixed index. The
  ///    function calls run() with dim = 1 for each row.
  ///  - For dim = 1, the part is one row. The index of the row is fixed. The
  ///    function calls run() with dim = 2 for each element of the row.
  ///  - For dim = 2, the part is one element. Both indices are fixed. The
  ///    function calls `visit` with the arguments `local` and `global`.
  ///
  /// The function skips the indices of the shard that have no element in the
  /// global tensor, such as padding.
  ///
  /// `local` is a row-major position in the shard. The element at this position
  /// has the fixed indices, and the index 0 in each other dim. The fixed
  /// indices of the shard correspond to fixed indices of the global tensor.
  /// `global` is a row-major position in the global tensor. The element at this
  /// position has the fixed indices of the global tensor, and the index 0 in
  /// each other dim.
  ///
  /// Example: the shard has 2 rows of 3 elements, and the global tensor has 8
  /// rows of 6 elements. Row 1 of the shard is a part of row 3 of the global
  /// tensor. The call run(1, 3, 18) visits row 1 of the shard. `local` is 3,
  /// because row 1 of the shard begins at the position 1 · 3. `global` is 18,
  /// because row 3 of the global tensor begins at the position 3 · 6.
  void run(size_t dim, int64_t local, int64_t global) {
    if (dim == indices.size())
      return visit(local, global);
    for (size_t i = 0; i < indices[dim].size(); ++i)
      if (indices[dim][i] >= 0)
        run(dim + 1, local + static_cast<int64_t>(i) * localStrides[dim],
            global + indices[dim][i] * globalStrides[dim]);
  }
};
} // namespace

void interpret::forEachElement(
    const LocalIndices &indices, ArrayRef<int64_t> shape,
    llvm::function_ref<void(int64_t, int64_t)> visit) {
  SmallVector<int64_t> local;
  for (const std::vector<int64_t> &dim : indices)
    local.push_back(static_cast<int64_t>(dim.size()));
  ElementWalk{indices, graph::rowMajor(local), graph::rowMajor(shape), visit}
      .run(0, 0, 0);
}

HostTensor interpret::takeShard(const HostTensor &whole,
                                const LocalIndices &indices, Padding padding) {
  HostTensor shard = emptyShard(indices, whole.kind, padding);
  withStorage(whole.kind, [&](auto zero) {
    using T = decltype(zero);
    T *to = shard.data<T>();
    const T *from = whole.data<T>();
    forEachElement(indices, whole.shape, [&](int64_t local, int64_t global) {
      to[local] = from[global];
    });
  });
  return shard;
}
