//===- ShardIndices.h - global indices of a rank's elements ---------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
#define PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H

#include "dialects/graph/reference/HostTensor.h"
#include "sharding/Sharding.h"

namespace pcc::interpret {

/// Global indices of a shard's elements. For each dim, entry i is the global
/// index of the element at local index i. The entry is `padding` or `hole` if
/// the shard holds no element of the global tensor there.
using LocalIndices = llvm::SmallVector<std::vector<int64_t>>;

/// Value that stands for padding in a list of global indices. Padding is the
/// unused end of a shard's buffer.
inline constexpr int64_t padding = -1;
/// Value that stands for a hole in a list of global indices. A hole is an
/// element that a windowed read (such as a halo exchange) takes from outside of
/// the tensor; the element is 0.
inline constexpr int64_t hole = -2;

/// Returns the global indices that one rank holds of a dim of `size` elements,
/// in the order of the rank's elements. `where` is the rank's mesh coordinates.
/// Example: the dim [3|64@tp] has 3 blocks of 64 elements, and the axis tp
/// splits each block. With tp = 2, the rank at tp coordinate 1 holds:
///   32 … 63, 96 … 127, 160 … 191
std::vector<int64_t> localIndices(const dist::DimSharding &dim, int64_t size,
                                  const dist::Mesh &mesh,
                                  const dist::Coordinates &where);

/// Returns the global indices along each dim that the rank at the mesh
/// coordinates `where` holds. `shape` is the global shape.
LocalIndices localIndices(const dist::Sharding &sharding,
                          llvm::ArrayRef<int64_t> shape, const dist::Mesh &mesh,
                          const dist::Coordinates &where);

/// Content of the padding (unused end) of a shard. In an executable, only the
/// padding of weights is sure to be 0. In the simulation, all other padding is
/// NaN: a program that uses it by mistake then gives a wrong result.
enum class Padding : uint8_t {
  Zero,  ///< zeros, as the runtime loads weights
  Poison ///< NaN; integers and booleans are 0
};

/// Returns a tensor for a shard whose elements have the global indices
/// `indices`. The caller sets these elements. `padding` selects the content of
/// the padding. Holes (reads outside of the global tensor) are 0.
graph::HostTensor emptyShard(const LocalIndices &indices,
                             graph::ElementKind kind, Padding padding);

/// Calls `visit(local, global)` for each element of a shard, in row-major
/// order. `local` is the element's row-major position in the shard. `global` is
/// its row-major position in the global tensor of shape `shape`. Padding and
/// holes (reads outside of the tensor) are skipped.
void forEachElement(const LocalIndices &indices, llvm::ArrayRef<int64_t> shape,
                    llvm::function_ref<void(int64_t, int64_t)> visit);

/// Returns the shard of the global tensor `whole` whose elements have the
/// global indices `indices`. Padding is filled according to `padding`.
graph::HostTensor takeShard(const graph::HostTensor &whole,
                            const LocalIndices &indices, Padding padding);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
