//===- ShardIndices.h - global indices of a rank's elements ---------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
#define PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H

#include "dialects/graph/reference/HostTensor.h"
#include "sharding/Sharding.h"

namespace pcc::interpret {

/// Global indices of the elements of a shard, one list per dim. Entry i of a
/// list is the global index at the local index i, or one of the constants
/// `padding` and `hole`. Example: the columns 2 and 3 of row 1, with one unused
/// column, are {{1}, {2, 3, padding}}.
using LocalIndices = llvm::SmallVector<std::vector<int64_t>>;

/// Value that stands for padding in a list of global indices. Padding is the
/// unused end of a shard's buffer.
inline constexpr int64_t padding = -1;
/// Value that stands for a hole in a list of global indices. A windowed read,
/// such as a halo exchange, reads a window of each dim. A hole is an index of
/// the window that reads no element of the dim. For example, the window of the
/// first rank may begin before element 0. At a hole, the shard contains the
/// number 0.
inline constexpr int64_t hole = -2;

/// Returns the global indices of the elements that the rank at `where` holds of
/// a dim of `size` elements. A local index without an element gives `padding`
/// or `hole`. Example: [3|64@tp] splits 3 blocks of 64 over tp. If tp = 2, its
/// second rank gets 32 to 63, 96 to 127 and 160 to 191.
std::vector<int64_t> localIndices(const dist::DimSharding &dim, int64_t size,
                                  const dist::Mesh &mesh,
                                  const dist::Coordinates &where);

/// Returns the global indices that the rank at the mesh coordinates `where`
/// holds of a tensor of the global shape `shape`, one list per dim. Example: 2
/// ranks split the columns of [2, 3]. The second rank gets {{0, 1}, {2,
/// padding}}.
LocalIndices localIndices(const dist::Sharding &sharding,
                          llvm::ArrayRef<int64_t> shape, const dist::Mesh &mesh,
                          const dist::Coordinates &where);

/// Returns the global indices of a shard that is the whole tensor. The tensor
/// has the shape `shape`. The result has one list per dim, which contains all
/// indices of the dim. For example, the shape [2, 3] gives {{0, 1}, {0, 1, 2}}.
LocalIndices allIndices(llvm::ArrayRef<int64_t> shape);

/// Value of the unused end of a simulated shard's buffer. Weights have zeros
/// there, and ops may rely on these zeros. All other tensors get NaN, which
/// exposes a result that depends on padding.
enum class Padding : uint8_t {
  Zero,  ///< zeros, as the runtime loads weights
  Poison ///< NaN; integers and booleans are 0
};

/// Creates a tensor with the sizes of the lists in `indices`. Padding becomes
/// NaN if `kind` is Float and `padding` is Padding::Poison, otherwise 0. A hole
/// becomes 0. An element that is a hole in one dim and padding in another dim
/// counts as padding. The caller must write all other elements.
graph::HostTensor emptyShard(const LocalIndices &indices,
                             graph::ElementKind kind, Padding padding);

/// Calls `visit(local, global)` for each element of a shard, in row-major
/// order. The arguments are the element's row-major offsets in the shard and in
/// the global tensor of shape `shape`. Skips the negative entries of `indices`:
/// padding and holes.
void forEachElement(const LocalIndices &indices, llvm::ArrayRef<int64_t> shape,
                    llvm::function_ref<void(int64_t, int64_t)> visit);

/// Copies the shard with the global indices `indices` from the tensor `whole`.
/// Padding becomes NaN if `whole` has floats and `padding` is Padding::Poison,
/// otherwise 0. A hole becomes 0. An element that is a hole in one dim and
/// padding in another dim counts as padding.
graph::HostTensor takeShard(const graph::HostTensor &whole,
                            const LocalIndices &indices, Padding padding);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
