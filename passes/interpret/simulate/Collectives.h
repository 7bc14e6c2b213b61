//===- Collectives.h - collectives between simulated ranks ----------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H
#define PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/SimulatedRanks.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Masks of a collective on one rank. They select the rows that the rank sends
/// or receives, such as the tokens for its experts. A row is the part of a
/// tensor with one entry in a mask. Example: in a tensor [batch, tokens,
/// features] with a mask [batch, tokens], a row is one token. The masks are not
/// owned.
struct RowMasks {
  /// Boolean masks: operands 0 and 1 of the collective's `rows`. In an
  /// all_gather, the operand is a shard and the result is gathered. In a
  /// reduce_scatter, the result is the shard. Each mask says which rows move:
  ///   divided[row of the shard, m]    to or from member m of the group (the
  ///                                   ranks that communicate)
  ///   whole[row of the whole tensor]  to or from this rank
  const graph::HostTensor *divided, *whole;
};

/// Executes the collective `op` on all ranks and returns the result on each
/// rank. `inputs[r]` is the operand on rank r. The elements of a result come
/// from different ranks:
///  - all_reduce and reduce_scatter: reduced over all ranks of the group (the
///    ranks that communicate);
///  - slice and mask: only from the rank's own operand;
///  - all others: copied from the nearest rank that holds the element (fewest
///    differing mesh coordinates).
///
/// `masks` has one entry per rank and says which rows are moved; if it is
/// empty, all rows are moved. A row that is not moved is undefined after an
/// all_gather, and counts as 0 in a reduce_scatter.
///
/// Errors:
///  - No rank holds an element that a result needs.
///  - The masks of two ranks disagree about a row.
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
