//===- Collectives.h - collectives between simulated ranks ----------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H
#define PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/SimulatedRanks.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Boolean masks of a collective on one rank. They select the rows that the
/// rank sends or receives. For example, a rank receives only the tokens for its
/// experts. A row is, for example, the features of one token in a tensor
/// [tokens, features]. Each row has at least one boolean in each mask. This
/// struct points to the masks, and does not own them.
struct RowMasks {
  /// Two boolean masks of one rank, here called "this rank", for an all_gather
  /// or a reduce_scatter. A row is, for example, the features of one token in a
  /// tensor [tokens, features]. The ranks that communicate form a group.
  ///
  /// In an all_gather, the operand is a shard, and the result is gathered from
  /// the shards of all ranks in the group:
  ///
  ///   divided[i, m]   whether this rank sends row i of its shard to rank m of
  ///                   the group
  ///   whole[i]        whether this rank receives row i of the gathered tensor
  ///
  /// In a reduce_scatter, the result is a shard, and each rank has a summand of
  /// every row:
  ///
  ///   divided[i, m]   whether rank m of the group sends its summand of row i
  ///                   of the shard to this rank
  ///   whole[i]        whether this rank sends its summand of row i
  ///
  /// Example: an all_gather of 4 tokens over 2 ranks, where rank 0 holds the
  /// tokens 0 and 1. Rank 1 needs the token 1, but not the token 0. Then
  /// divided[0, 1] is false and divided[1, 1] is true on rank 0, and whole[0]
  /// is false and whole[1] is true on rank 1.
  const graph::HostTensor *divided, *whole;
};

/// Executes the collective `op` on all simulated ranks, and returns the result
/// on each rank. `inputs[r]` is the operand on rank r. There are three classes
/// of collectives:
///
///  - An all_reduce or reduce_scatter reduces each element over the ranks that
///    communicate.
///  - A slice or mask needs no communication. In a slice, each rank keeps a
///    part of its operand. In a mask, the ranks with coordinate 0 along a mesh
///    axis keep their operands, and all other ranks get the neutral element of
///    a reduction, such as 0 for a sum.
///  - Any other collective, such as an all_gather, copies each element from the
///    nearest rank that holds the element. The mesh coordinates of the nearest
///    rank differ along the fewest axes.
///
/// An all_gather or reduce_scatter may move only some rows of a tensor. A row
/// is, for example, the features of one token in a tensor [tokens, features].
/// `masks[r]` has the boolean masks that select the rows that rank r sends and
/// receives. If `masks` is empty, all rows move. The elements of a row that
/// does not move are undefined after an all_gather, and count as 0 in a
/// reduce_scatter.
///
/// Returns an error in two cases:
///
///  - An element that a result needs is missing. For example, no rank holds the
///    element.
///  - The masks of two ranks disagree about a row: one rank sends the row, but
///    the other rank does not receive the row, or the reverse.
StatusOr<std::vector<graph::HostTensor>>
evaluateCollective(dist::CollectiveOp op, const SimulatedRanks &ranks,
                   llvm::ArrayRef<const graph::HostTensor *> inputs,
                   llvm::ArrayRef<RowMasks> masks);

/// Combines two partial values by the reduction `kind`. Integers wrap around.
/// If an operand is NaN, so is the result. `And` and `Or` return 0 or 1.
double combine(dist::ReductionKind kind, double a, double b);
int64_t combine(dist::ReductionKind kind, int64_t a, int64_t b);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H
