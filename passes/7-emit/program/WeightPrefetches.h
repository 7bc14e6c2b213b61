//===- WeightPrefetches.h - prefetch of all-gathers of sharded weights ----===//
//
// Finds the all-gathers of weights that are stored in shards (FSDP, Zhao et al.
// 2023) and can run while the ops before their use compute, as in SimpleFSDP
// (Zhang et al. 2024). Each all-gather becomes a start and a finish instruction
// of one function. An all-gather starts when the all-gather before it has
// finished:
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

/// Describes the all-gather of a weight of which each rank stores only a shard.
/// The all-gather collects the whole weight on each rank. The all-gather is
/// split into two instructions, a start and a finish. Other ops may run between
/// the start and the finish. The finish runs right before the first op that
/// uses the whole weight.
struct Prefetch {
  /// The all-gather op. Mutable because the op's accessors are not const.
  mutable dist::CollectiveOp collective;
  /// Ops that compute the input of the all-gather from this rank's shard of the
  /// weight. An example is a cast of the shard. The ops are in execution order,
  /// and run right before the start of the all-gather.
  std::vector<mlir::Operation *> makers;
  /// Index in ModelFacts::groups of the mesh axes along which the all-gather
  /// communicates. Only prefetched all-gathers use this entry, and each entry
  /// has separate communicators. Other collectives can therefore run between
  /// the start and the finish.
  int group;
};

/// Returns the all-gathers of weights that can start early, in program order.
/// Considers only functions that run once per microbatch. `facts.functions`,
/// `facts.groups` and `facts.groupOfKind` must be filled. Appends entries to
/// `facts.groups`, one for each set of mesh axes of these all-gathers.
std::vector<Prefetch> findPrefetches(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H
