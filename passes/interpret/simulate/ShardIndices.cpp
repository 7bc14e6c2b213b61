//===- ShardIndices.cpp - global indices of a rank's elements -------------===//

#include "passes/interpret/simulate/ShardIndices.h"
#include "dialects/graph/reference/Strides.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace pcc;
using namespace pcc::interpret;
using graph::HostTensor;

/// Changes each entry of `indices` from an index into `view` (a windowed read
/// of a dim, such as a halo exchange) to the index of the element that is read.
/// An index that reads no element becomes `hole`. Padding stays as it is.
static void seeThrough(const dist::View &view, std::vector<int64_t> &indices) {
  for (int64_t &index : indices)
    if (index >= 0)
      index = view.elementAt(index).value_or(hole);
}

/// Computes the indices factor by factor. A dim can be a product of factors,
/// such as 768 = 12 · 64, and mesh axes split each factor separately. All ranks
/// get lists of equal length. The list of a rank with fewer elements contains
/// `padding`.
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

/// Prepares the float tensor `shard`. Padding (an unused end of the buffer in
/// any dim) becomes NaN. A hole (a windowed read that finds no element) becomes
/// 0. The caller must write all other elements.
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

  /// Visits the elements whose indices in the dims before `dim` are fixed.
  /// `local` and `global` are the row-major offsets of these fixed indices in
  /// the shard and in the global tensor. Skips padding and holes, which are
  /// negative.
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
