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
  /// Index of an entry of the list ModelFacts::groups. An entry is a set of
  /// mesh axes. The all-gather communicates along these axes: for the set {dp},
  /// two ranks communicate if only their coordinates on the axis dp differ. For
  /// each entry, the runtime creates separate communicators. Other collectives
  /// may run between the start and the finish of this all-gather, and must not
  /// use its communicator. Only all-gathers that are split into a start and a
  /// finish therefore use this entry (see OverlapGroups).
  int group;
};

/// Returns all all-gathers of weights that can start before the weight is used,
/// in program order. Other collectives may run while one of these all-gathers
/// is in progress. The all-gathers therefore need communicators that other
/// collectives do not use. For each entry of `facts.groups`, the runtime
/// creates communicators. This function appends entries to `facts.groups` for
/// the all-gathers. Must be called after `facts.functions` and `facts.groups`
/// are filled.
std::vector<Prefetch> findPrefetches(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H
