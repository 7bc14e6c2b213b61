//===- ShardIndices.h - global indices of a rank's elements ---------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
#define PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H

#include "dialects/graph/reference/HostTensor.h"
#include "sharding/Sharding.h"

namespace pcc::interpret {

/// For each dim of a shard, the global index that corresponds to each local
/// index. It is `padding` or `hole` at local indices that hold no element of
/// the global tensor.
using LocalIndices = llvm::SmallVector<std::vector<int64_t>>;

/// Value that stands for padding in a list of global indices. Padding is the
/// unused end of a shard's buffer.
inline constexpr int64_t padding = -1;
/// Value that stands for a hole in a list of global indices: an element of a
/// windowed read (View.h) that lies outside of the tensor. Its value is 0.
inline constexpr int64_t hole = -2;

/// Returns the global indices that one rank holds of a dim of `size` elements,
/// in local order. `where` is the rank's mesh coordinates. Example: [3|64@tp]
/// is a dim of 3 blocks of 64 elements, and tp splits each block:
///   [3|64@tp] with tp = 2, at tp coordinate 1:  32 … 63, 96 … 127, 160 … 191
std::vector<int64_t> localIndices(const dist::DimSharding &dim, int64_t size,
                                  const dist::Mesh &mesh,
                                  const dist::Coordinates &where);

/// Returns the global indices along each dim that the rank at the mesh
/// coordinates `where` holds. `shape` is the global shape.
LocalIndices localIndices(const dist::Sharding &sharding,
                          llvm::ArrayRef<int64_t> shape, const dist::Mesh &mesh,
                          const dist::Coordinates &where);

/// Returns the indices of a shard that is the whole tensor of shape `shape`.
LocalIndices allIndices(llvm::ArrayRef<int64_t> shape);

/// Contents of the padding in a shard. The compiler guarantees zeros only in
/// the padding of weights. All other padding is NaN in the simulation, so that
/// a wrong use changes the result.
enum class Padding : uint8_t {
  Zero,  ///< zeros, as the runtime loads weights
  Poison ///< NaN; integers and booleans are 0
};

/// Returns a shard whose elements the caller will set: a tensor with the shape
/// of `indices`. Its padding is filled according to `padding`, and its holes
/// with 0.
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
