//===- Collectives.h - collectives between simulated ranks ----------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H
#define PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/SimulatedRanks.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Row masks of a collective on one rank. They mark the rows that are moved,
/// such as the tokens that the experts of a rank need. A row is all elements
/// with equal indices in the tensor's first dims. For example, if a tensor
/// [batch, tokens, features] has two first dims, a row is one token. The masks
/// are not owned.
struct RowMasks {
  /// The two masks, boolean tensors: operands 0 and 1 of the collective's
  /// `rows`. On the divided side (operand of an all_gather, result of a
  /// reduce_scatter), each rank has a part of the rows. On the whole side, each
  /// rank has all rows of the group.
  ///   divided  [first dims of the divided side, members of the group]: whether
  ///            a row of this rank is moved to or from that member
  ///   whole    [first dims of the whole side]: whether a row is moved to or
  ///            from this rank
  const graph::HostTensor *divided, *whole;
};

/// Executes the collective `op` on all ranks and returns the result on each
/// rank. `inputs[r]` is the operand on rank r. Elements of operand and result
/// are matched by their global indices under the shardings `from` and `to` of
/// `op`. The result does not depend on an algorithm of the runtime. There are
/// three cases:
///  - all_reduce and reduce_scatter combine the elements of all ranks of the
///    group.
///  - slice and mask only use the rank's own operand.
///  - Any other collective copies each element from the nearest rank that holds
///    it: the rank that differs along the fewest mesh axes, at best the rank
///    itself.
///
/// `masks` (which rows are moved) is empty or has one entry per rank. If it is
/// empty, all rows are moved. Rows that are not moved are undefined after an
/// all_gather, and count as 0 in a reduce_scatter.
///
/// Returns an error if a rank needs an element that no source rank holds, or if
/// the masks of two ranks disagree about a row.
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
