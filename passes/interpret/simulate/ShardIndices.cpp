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

/// Computes the global indices of the elements that one rank holds. The list
/// `indices` begins with the single entry 0. The loop processes one factor of
/// the dim after another. A factor with `size` elements replaces each entry e
/// of the list by the entries e · size + i. Here, i runs through the elements
/// of the factor that the rank holds. The lists of all ranks have the same
/// length. If a rank holds fewer elements than another rank, its list has
/// `padding` in place of the missing elements.
///
/// Example: the dim has 192 elements and the sharding [3|64@tp]. The dim has 3
/// blocks of 64 elements. The mesh axis tp has 2 ranks and splits each block.
/// The rank at the tp coordinate 0 holds the first 32 elements of each block:
///
///   at the start:             0
///   after the factor 3:       0, 1, 2                        (blocks)
///   after the factor 64@tp:   0 … 31, 64 … 95, 128 … 159     (elements)
///
/// For example, the factor 64@tp replaces the entry 1 by 1 · 64 + 0 to
/// 1 · 64 + 31. These entries are 64 … 95.
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

/// Fills a new shard of floats with NaN and 0. Later, the caller writes the
/// elements of the shard. `indices` has one list per dim of the shard. An entry
/// of a list is a global index or one of the constants `padding` and `hole`. A
/// place of the shard belongs to one entry of each list. There are three cases:
///
///  - At least one of these entries is `padding`. The place is in the unused
///    end of the shard's buffer. The place becomes NaN.
///  - At least one of these entries is `hole`, and no entry is `padding`. The
///    place is a part of a windowed read, such as a halo exchange, but the
///    global tensor has no element there. The place becomes 0.
///  - All entries are global indices. The caller overwrites the place later, so
///    the value that it has until then is irrelevant.
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

  /// Visits a part of the shard. Earlier calls of run() have chosen one index
  /// for each dim before `dim`. This call visits all elements of the shard that
  /// have the chosen indices.
  ///
  /// `local` is the sum of local index times stride over the dims before `dim`.
  /// The stride of a dim is the distance, in elements, between two neighboring
  /// indices of the dim in the shard. `global` is the same sum with global
  /// indices and with the strides of the global tensor. If an index has been
  /// chosen for every dim, `local` and `global` are the row-major positions of
  /// one element, and this call passes them to `visit`.
  ///
  /// Example: a shard has rows of 3 elements, and the global tensor has rows of
  /// 6 elements. Row 1 of the shard is a part of row 3 of the global tensor.
  /// The call run(1, 3, 18) visits this row: `local` is 1 · 3 = 3, and `global`
  /// is 3 · 6 = 18.
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
