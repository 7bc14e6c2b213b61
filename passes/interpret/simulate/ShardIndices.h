//===- ShardIndices.h - which elements a rank holds -----------------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
#define PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H

#include "dialects/dist/Sharding.h"
#include "dialects/graph/reference/HostTensor.h"

namespace pcc::interpret {

/// Per dim the global index of every local element, or one of the two below.
using LocalIndices = llvm::SmallVector<std::vector<int64_t>>;

/// An element behind the end of a short part.
inline constexpr int64_t padding = -1;
/// An element of a view that nothing lies at: it is 0.
inline constexpr int64_t hole = -2;

/// The indices of one dim: [3|64@tp] at tp 1 of 2 gives 32 … 63, 96 … 127,
/// 160 … 191.
std::vector<int64_t> localIndices(const dist::DimSharding &dim, int64_t size,
                                  const dist::Mesh &mesh,
                                  const dist::Coordinates &where);

LocalIndices localIndices(const dist::Sharding &sharding,
                          llvm::ArrayRef<int64_t> shape, const dist::Mesh &mesh,
                          const dist::Coordinates &where);

/// What padding holds in a shard: weights have zeros there, anything else has
/// NaN (integers 0), so that a use of padding shows.
enum class Padding : uint8_t { Zero, Poison };

/// An empty shard: all padding.
graph::HostTensor emptyShard(const LocalIndices &indices,
                             graph::ElementKind kind, Padding padding);

/// Calls `visit(local, global)` with the row-major positions of every element
/// of a shard in the shard and in the whole tensor of `shape`.
void forEachElement(const LocalIndices &indices, llvm::ArrayRef<int64_t> shape,
                    llvm::function_ref<void(int64_t, int64_t)> visit);

/// The shard of a whole tensor.
graph::HostTensor takeShard(const graph::HostTensor &whole,
                            const LocalIndices &indices, Padding padding);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
