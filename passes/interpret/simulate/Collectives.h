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
  /// `divided` has one boolean for each row i of this rank's shard and each
  /// rank m of the group that communicates. `whole` has one boolean for each
  /// row i of the whole tensor. A true boolean means:
  ///
  ///   all_gather       divided[i, m]: this rank sends row i to rank m
  ///                    whole[i]: this rank receives row i
  ///   reduce_scatter   divided[i, m]: this rank gets a summand of row i from m
  ///                    whole[i]: this rank sends its summand of row i
  const graph::HostTensor *divided, *whole;
};

/// Executes the collective `op` on all simulated ranks, and returns the result
/// on each rank. inputs[r] is the operand on rank r. masks[r] selects the rows
/// that rank r sends and receives in an all_gather or reduce_scatter. If
/// `masks` is empty, all rows move. In an all_gather, the elements of a row
/// that a rank does not receive are undefined. In a reduce_scatter, summands
/// that are not sent count as 0. Returns an error if no rank provides an
/// element that a result needs, or if the masks of two ranks disagree about a
/// row.
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
