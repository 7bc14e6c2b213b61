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
  /// `divided` has one element for each row i of this rank's shard and each
  /// rank m of the group. In an all_gather, the element is true if this rank
  /// sends row i to rank m. In a reduce_scatter, it is true if this rank
  /// receives a summand of row i from rank m. `whole` has one element for each
  /// row i of the whole tensor. In an all_gather, the element is true if this
  /// rank receives row i. In a reduce_scatter, it is true if this rank sends
  /// its summand of row i.
  const graph::HostTensor *divided, *whole;
};

/// Executes `op` on all simulated ranks. Entry r of the result, of `inputs` and
/// of `masks` belongs to rank r. A mask selects the rows that the ranks
/// exchange; without masks, all rows are exchanged. Rows that no mask selects
/// are undefined after an all_gather. Returns an error if a result needs an
/// element that no rank provides, or if two ranks' masks disagree.
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
