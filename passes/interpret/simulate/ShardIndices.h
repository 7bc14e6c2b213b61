//===- ShardIndices.h - global indices of a rank's elements ---------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
#define PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H

#include "dialects/graph/reference/HostTensor.h"
#include "sharding/Sharding.h"

namespace pcc::interpret {

/// For each dim, the global index of every local index; `padding` or `hole` for
/// local indices that hold no element of the tensor.
using LocalIndices = llvm::SmallVector<std::vector<int64_t>>;

/// Index of padding, which fills the buffer behind the end of a short part.
inline constexpr int64_t padding = -1;
/// Index of a hole: a windowed read (View.h) reads outside the tensor there.
/// The element is 0.
inline constexpr int64_t hole = -2;

/// Returns the global indices that the rank at coordinates `where` holds of a
/// dim of `size` elements, in local order.
///   [3|64@tp] with tp = 2, at tp coordinate 1:  32 … 63, 96 … 127, 160 … 191
std::vector<int64_t> localIndices(const dist::DimSharding &dim, int64_t size,
                                  const dist::Mesh &mesh,
                                  const dist::Coordinates &where);

/// Returns the indices of all dims of a tensor of global shape `shape` that the
/// rank at coordinates `where` holds.
LocalIndices localIndices(const dist::Sharding &sharding,
                          llvm::ArrayRef<int64_t> shape, const dist::Mesh &mesh,
                          const dist::Coordinates &where);

/// Contents of padding in a shard. The compiler guarantees zeros only in the
/// padding of weights. The padding of all other values is poisoned, so that an
/// op that uses it spoils its result.
enum class Padding : uint8_t {
  Zero,  ///< zeros, as the runtime loads weights
  Poison ///< NaN; integers and booleans are 0
};

/// Returns a shard whose elements are still to be written: a tensor of the
/// shape of `indices`. Its padding holds what `padding` says, and its holes
/// hold 0.
graph::HostTensor emptyShard(const LocalIndices &indices,
                             graph::ElementKind kind, Padding padding);

/// Calls `visit(local, global)` for every element of a shard, in local
/// row-major order. `local` is the row-major index in the shard, and `global`
/// that in the global tensor of `shape`. Padding and holes are left out.
void forEachElement(const LocalIndices &indices, llvm::ArrayRef<int64_t> shape,
                    llvm::function_ref<void(int64_t, int64_t)> visit);

/// Copies the shard with `indices` out of the global tensor `whole`. Padding is
/// filled according to `padding`.
graph::HostTensor takeShard(const graph::HostTensor &whole,
                            const LocalIndices &indices, Padding padding);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
