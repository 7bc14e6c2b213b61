//===- Collectives.h - collectives between simulated ranks ----------------===//

#ifndef PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H
#define PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H

#include "dialects/dist/DistDialect.h"
#include "dialects/graph/reference/HostTensor.h"
#include "passes/interpret/simulate/SimulatedRanks.h"

namespace pcc::interpret {

/// The masks of a collective's `rows` on one rank.
struct RowMasks {
  const graph::HostTensor *divided, *whole;
};

/// Executes `op` on all ranks: `inputs[r]` is the operand on rank r. A rank
/// gets an element from itself, else from the rank nearest to it that holds it.
/// Local kinds (slice, mask) look at nothing but the own operand. Fails if some
/// element that a rank must have afterwards is nowhere in its group. Of rows
/// only those move that count by `masks[r]`, which has an entry per rank or
/// none; fails if two ranks say different things of a row.
llvm::FailureOr<std::vector<graph::HostTensor>>
evaluateCollective(dist::CollectiveOp op, const SimulatedRanks &ranks,
                   llvm::ArrayRef<const graph::HostTensor *> inputs,
                   llvm::ArrayRef<RowMasks> masks, std::string &error);

/// Combines two partial values.
double combine(dist::ReductionKind kind, double a, double b);
int64_t combine(dist::ReductionKind kind, int64_t a, int64_t b);

} // namespace pcc::interpret

#endif // PCC_PASSES_INTERPRET_SIMULATE_COLLECTIVES_H
