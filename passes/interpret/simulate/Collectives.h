//===- Collectives.h - collectives between simulated ranks ----------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H
#define PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/SimulatedRanks.h"
#include "status/StatusOr.h"

namespace pcc::interpret {

/// Row masks of a collective on one rank. They tell which rows are moved, such
/// as the tokens that the experts of a rank need. The first few dims of the
/// tensor count rows; a row is the block of elements at one index of these
/// dims. The masks are not owned.
struct RowMasks {
  /// Operands 0 and 1 of the collective's `rows`, boolean tensors:
  ///   divided  [first dims of the divided side, members of the group]: whether
  ///            a row of this rank counts for that member
  ///   whole    [first dims of the whole side]: whether a row counts for this
  ///            rank
  const graph::HostTensor *divided, *whole;
};

/// Executes a collective on all ranks and returns the result on each rank.
/// `inputs[r]` is the operand on rank r. Elements are matched by their global
/// indices under the shardings `from` and `to` of `op`, so the result does not
/// depend on an algorithm of the runtime. A rank takes an element from its own
/// operand if it is there, otherwise from the rank that differs from it along
/// the fewest mesh axes. The kinds slice and mask only use the rank's own
/// operand.
///
/// `masks` is empty or has one entry per rank. With masks only rows that count
/// are moved. All other rows are undefined after an all_gather, and count as 0
/// in a reduce_scatter.
///
/// Returns an error if a rank needs an element that no rank can give it, or if
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
