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

/// Computes the list of global indices factor by factor, beginning with {0}.
/// For a factor of size n, each entry e becomes the entries e · n + i, one for
/// each position i that the rank holds. Example: a dim has the sharding
/// [3|64@tp], and tp has 2 ranks. At the tp coordinate 0, the factor 3 gives
/// the list 0, 1, 2. The factor 64@tp then gives 0 … 31, 64 … 95, 128 … 159.
/// The lists of all ranks have the same length: missing positions become
/// `padding`. If the sharding has a view (a windowed read, such as a halo
/// exchange), the factors split the reads of the view. seeThrough() then
/// replaces each read by the element that it reads.
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

/// Fills `shard`, a new tensor of floats. An entry of `indices` is a global
/// index, `padding` or `hole`. An element becomes NaN if one of its entries is
/// `padding`. Any other element becomes 0 if one of its entries is `hole`. All
/// other elements are 0 or NaN until the caller writes them. Example: `indices`
/// is {{4, padding}, {hole, 0, padding}}:
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

  /// Calls `visit` for each element of the shard with fixed indices in the dims
  /// before `dim`. `local` and `global` are row-major positions, in the shard
  /// and in the global tensor, of the element that has the fixed indices, and
  /// the index 0 in the other dims. Skips negative entries, such as padding.
  /// Example: the shard has 2 rows of 3 elements, the global tensor has 8 rows
  /// of 6 elements, and row 1 of the shard is part of row 3. The call run(1, 3,
  /// 18) visits row 1 of the shard, because 1 · 3 is 3 and 3 · 6 is 18.
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
