//===- Collectives.h - collectives between simulated ranks ----------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H
#define PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/SimulatedRanks.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Row masks of a collective on one rank: they mark the rows that are moved,
/// such as the tokens that the experts of a rank need. A row is the block of
/// elements at one index of the tensor's first dims; for a tensor [batch,
/// tokens, features] with two such dims it is one token. The masks are not
/// owned.
struct RowMasks {
  /// Operands 0 and 1 of the collective's `rows`, boolean tensors. The divided
  /// side is the operand of an all_gather or the result of a reduce_scatter,
  /// where each rank has a part of the rows. The whole side is the other tensor
  /// of the collective, which has all rows of the group.
  ///   divided  [first dims of the divided side, members of the group]: whether
  ///            a row of this rank is moved to or from that member
  ///   whole    [first dims of the whole side]: whether a row is moved to or
  ///            from this rank
  const graph::HostTensor *divided, *whole;
};

/// Executes the collective `op` on all ranks and returns the result on each
/// rank. `inputs[r]` is the operand on rank r. Elements of operand and result
/// are matched by their global indices under the shardings `from` and `to` of
/// `op`, so the result does not depend on an algorithm of the runtime.
///
/// An all_reduce or reduce_scatter combines the elements of all ranks of the
/// group. In any other collective, a rank copies each element from the nearest
/// rank that holds it: the rank that differs from it along the fewest mesh
/// axes, at best itself. The kinds slice and mask only use the rank's own
/// operand.
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
