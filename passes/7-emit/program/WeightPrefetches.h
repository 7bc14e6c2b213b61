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

/// One all-gather of a weight that is split into a start and a finish
/// instruction.
struct Prefetch {
  /// The all_gather. Mutable because the op's accessors are not const.
  mutable dist::CollectiveOp collective;
  /// Ops that compute the gather's input from the weight, operands first, such
  /// as a cast of the shard to a narrower type. They move to the start of the
  /// gather.
  std::vector<mlir::Operation *> makers;
  /// Index in ModelFacts::groups: a group with the ranks of the collective's
  /// group that only prefetches use.
  int group;
};

/// Returns all prefetches, in program order. Adds the groups for them to
/// `facts`, which must be complete except for prefetches and index bounds.
std::vector<Prefetch> findPrefetches(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H
