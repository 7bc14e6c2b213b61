//===- ShardIndices.h - global indices of a rank's elements ---------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
#define PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H

#include "dialects/graph/reference/HostTensor.h"
#include "sharding/Sharding.h"

namespace pcc::interpret {

/// Global indices of the elements of a shard. There is one list per dim. Entry
/// i of a list is the global index that corresponds to the local index i. If
/// the shard has no element at the local index i, entry i is one of these two
/// negative constants:
///
///  - `padding`: the local index i lies in the unused end of the shard's
///    buffer.
///  - `hole`: the shard is the result of a windowed read, such as a halo
///    exchange, and reads no element of the global tensor at this index.
///
/// Example: a shard has the columns 2 and 3 of the global row 1, and one unused
/// column. The lists are {{1}, {2, 3, padding}}.
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

/// Returns the global indices of the elements that one rank holds of a dim. The
/// global tensor has `size` elements in this dim. `dim` is the sharding of the
/// dim over the axes of `mesh`, and `where` is the coordinates of the rank in
/// the mesh. Entry i of the result is the global index of the element that has
/// the local index i. If the rank has no element at the local index i, entry i
/// is one of the two negative constants `padding` and `hole`.
///
/// Example: a dim of 192 elements has the sharding [3|64@tp]. The dim consists
/// of 3 blocks of 64 elements. The mesh axis tp of 2 ranks splits each block
/// into two halves. The rank at the tp coordinate 1 holds the second half of
/// each block. The result is 32 … 63, 96 … 127, 160 … 191.
std::vector<int64_t> localIndices(const dist::DimSharding &dim, int64_t size,
                                  const dist::Mesh &mesh,
                                  const dist::Coordinates &where);

/// Returns the global indices of the elements that one rank holds of a tensor.
/// The result has one list per dim. `shape` is the global shape of the tensor,
/// and `sharding` is its sharding over the axes of `mesh`. `where` is the
/// coordinates of the rank in the mesh.
///
/// Example: a tensor has the shape [2, 3], and the axis tp of 2 ranks splits
/// the columns. Each rank has a buffer of 2 columns:
///
///   tp coordinate 0:   columns 0 and 1      {{0, 1}, {0, 1}}
///   tp coordinate 1:   column 2 only        {{0, 1}, {2, padding}}
LocalIndices localIndices(const dist::Sharding &sharding,
                          llvm::ArrayRef<int64_t> shape, const dist::Mesh &mesh,
                          const dist::Coordinates &where);

/// Returns the global indices of a shard that is the whole tensor. The tensor
/// has the shape `shape`. The result has one list per dim, which contains all
/// indices of the dim. For example, the shape [2, 3] gives {{0, 1}, {0, 1, 2}}.
LocalIndices allIndices(llvm::ArrayRef<int64_t> shape);

/// Value of the padding in a simulated shard. Each rank stores its shard in a
/// buffer. The padding is the unused end of this buffer. For example, if 2
/// ranks split 3 elements, each rank has a buffer for 2 elements, and rank 1
/// has 1 element of padding.
///
/// If a tensor is a weight, the compiler guarantees that its padding is 0, and
/// ops may rely on the 0. The padding of any other tensor can have any value,
/// so no result may depend on the padding. The simulation sets this padding to
/// NaN. If a result depends on the padding by mistake, the NaN makes the
/// mistake visible.
enum class Padding : uint8_t {
  Zero,  ///< zeros, as the runtime loads weights
  Poison ///< NaN; integers and booleans are 0
};

/// Creates the tensor for a shard. The caller must write its elements
/// afterwards. `indices` has one list per dim, and the length of a list is the
/// size of the dim. The entry -1 is padding: its elements become NaN if `kind`
/// is Float and the parameter `padding` is Padding::Poison, and 0 if not. The
/// entry -2 is a hole: its elements become 0, unless they are padding in
/// another dim. Example: for {{1}, {2, -1}}, the tensor has the shape [1, 2],
/// and its second element is padding.
graph::HostTensor emptyShard(const LocalIndices &indices,
                             graph::ElementKind kind, Padding padding);

/// Calls `visit(local, global)` for each element of a shard, in row-major
/// order. `local` is the element's row-major position in the shard. `global` is
/// the element's row-major position in the global tensor, which has the shape
/// `shape`. `indices` has one list per dim of the shard. The list contains, for
/// each local index, the corresponding global index. The entry is negative if
/// the shard holds no element at this local index. The function skips such
/// local indices.
///
/// Example: the global tensor has the shape [2, 3]. The shard has 1 row and 2
/// columns. Its row is row 1 of the global tensor. Its first column is column
/// 2, and its second column is unused. Then `indices` is {{1}, {2, -1}}, and
/// the only call is visit(0, 5).
void forEachElement(const LocalIndices &indices, llvm::ArrayRef<int64_t> shape,
                    llvm::function_ref<void(int64_t, int64_t)> visit);

/// Copies the shard of one rank from the global tensor `whole`. indices[d][i]
/// is the global index of the elements with the local index i in dim d. The
/// entry -1 is padding: its elements become NaN if `whole` has floats and the
/// parameter `padding` is Padding::Poison, and 0 if not. The entry -2 is a
/// hole: its elements become 0, unless they are padding in another dim.
/// Example: [[1., 2.], [3., 4.]] with the indices {{1}, {1, -1}} and
/// Padding::Poison gives [[4, NaN]].
graph::HostTensor takeShard(const graph::HostTensor &whole,
                            const LocalIndices &indices, Padding padding);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_SHARDINDICES_H
