//===- Collectives.h - collectives between simulated ranks ----------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H
#define PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/SimulatedRanks.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Two boolean masks of one rank, for an all_gather or a reduce_scatter that
/// moves only some rows of a tensor. A row is, for example, the features of one
/// token in a tensor [tokens, features]. One mask selects the rows that the
/// rank sends. The other mask selects the rows that the rank receives. For
/// example, a rank receives only the tokens that its experts process. This
/// struct contains pointers to the masks, and does not own the masks.
struct RowMasks {
  /// Two boolean masks of one rank. This rank is called R here. The ranks that
  /// communicate form a group. A row is, for example, the features of one token
  /// in a tensor [tokens, features]. Each rank of the group has a shard of the
  /// tensor, which contains some rows.
  ///
  ///  - `divided` has one boolean for each row of R's shard and each rank of
  ///    the group.
  ///  - `whole` has one boolean for each row of the whole tensor.
  ///
  /// In an all_gather, R sends rows of its shard, and receives rows of the
  /// whole tensor:
  ///
  ///   divided[i, m]   whether R sends row i of its shard to rank m of the group
  ///   whole[i]        whether R receives row i of the whole tensor
  ///
  /// In a reduce_scatter, R has a summand of each row of the whole tensor. R
  /// sends these summands. R receives the summands of the rows of its shard,
  /// and adds them:
  ///
  ///   divided[i, m]   whether R receives a summand of row i of its shard from
  ///                   rank m of the group
  ///   whole[i]        whether R sends its summand of row i of the whole tensor
  ///
  /// Example: an all_gather of 4 tokens on 2 ranks. The shard of rank 0
  /// contains the tokens 0 and 1. Rank 1 needs token 1, but does not need token
  /// 0. On rank 0, divided[0, 1] is false and divided[1, 1] is true. On rank 1,
  /// whole[0] is false and whole[1] is true.
  const graph::HostTensor *divided, *whole;
};

/// Executes the collective `op` on all simulated ranks, and returns the result
/// on each rank. `inputs[r]` is the operand on rank r. There are four classes
/// of collectives:
///
///   - An all_reduce or reduce_scatter reduces each element over the ranks that
///     communicate.
///   - A slice needs no communication. Each rank keeps a part of its operand.
///   - A collective of the kind Mask needs no communication. Several ranks have
///     equal operands. The first of these ranks keeps its operand. On the other
///     ranks, each element becomes the neutral element of a reduction, such as 0
///     for a sum.
///   - Any other collective, such as an all_gather, only copies elements. Each
///     element of the result on rank r is a copy from a rank that holds the
///     element. If several ranks hold the element, the function copies it from
///     the rank that is nearest to r. The distance of two ranks is the number
///     of mesh axes along which their coordinates differ. Rank r has the
///     distance 0 to itself.
///
/// An all_gather or reduce_scatter may move only some rows of a tensor. A row
/// is, for example, the features of one token in a tensor [tokens, features].
/// `masks[r]` contains two boolean tensors. One tensor selects the rows that
/// rank r sends, and the other tensor selects the rows that rank r receives. If
/// `masks` is empty, all rows move. In an all_gather, if a rank does not
/// receive a row of another rank, the elements of this row are undefined in the
/// result. In a reduce_scatter, if a rank does not send its summands of a row,
/// these summands count as 0 in the sum.
///
/// Returns an error in two cases:
///
///   - An element that a result needs is missing. For example, no rank holds
///     the element.
///   - The boolean tensors of two ranks contradict each other: one rank sends a
///     row, but the other rank does not receive the row, or the reverse.
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
