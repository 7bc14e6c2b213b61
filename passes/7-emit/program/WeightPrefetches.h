//===- WeightPrefetches.h - prefetch of all-gathers of sharded weights ----===//
//
// Finds the all-gathers of weights that are stored in shards (FSDP, Zhao et al.
// 2023) and can run while the ops before their use compute, as in SimpleFSDP
// (Zhang et al. 2024). Each becomes a start and a finish instruction of one
// function. A gather starts when the gather before it has finished:
//
//   F   start W1 | finish W1 | start W2 | … x·W1 … | finish W2 | start W3 | …
//
// The arena therefore holds one gathered weight more than without prefetch.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H
#define PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H

#include "dialects/dist/DistDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace pcc::emit {

struct ModelFacts;

/// All-gather of a sharded weight that becomes two instructions, a start and a
/// finish. The start runs ahead of the use of the weight, the finish right
/// before the use.
struct Prefetch {
  /// The all-gather op. Mutable because the op's accessors are not const.
  mutable dist::CollectiveOp collective;
  /// Ops that compute the input of the gather from the weight, in execution
  /// order. An example is a cast of the rank's shard to a narrower type. The
  /// ops run just before the gather starts.
  std::vector<mlir::Operation *> makers;
  /// Index in ModelFacts::groups of the group of ranks within which the gather
  /// communicates. This is a second group (OverlapGroups): it has the ranks of
  /// the collective's ordinary group, but a communicator that only prefetches
  /// use.
  int group;
};

/// Returns all prefetches (early gathers of weights) of the module's programs,
/// in program order. Adds the groups of ranks within which they communicate to
/// `facts`. readFacts() calls this function after it has completed the stages
/// and groups of `facts`.
std::vector<Prefetch> findPrefetches(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H
