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

/// An all-gather of a sharded weight that becomes two instructions: one starts
/// it early, the other finishes it where the weight is used.
struct Prefetch {
  /// The all-gather op. Mutable because the op's accessors are not const.
  mutable dist::CollectiveOp collective;
  /// Ops that compute the gather's input from the weight, such as a cast of the
  /// rank's shard to a narrower type, in execution order. They run just before
  /// the gather starts.
  std::vector<mlir::Operation *> makers;
  /// Index in ModelFacts::groups of a group of ranks that is used by prefetches
  /// only. It has the same ranks as the group of the collective.
  int group;
};

/// Returns all prefetches of the module's programs, in program order. Adds
/// groups of ranks for them to `facts`. readFacts() calls this function after
/// it has read stages and groups, which must be complete.
std::vector<Prefetch> findPrefetches(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H
