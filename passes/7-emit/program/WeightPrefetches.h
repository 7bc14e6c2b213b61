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
  /// Index of an entry of the list ModelFacts::groups. Each entry is a set of
  /// mesh axes. The runtime creates separate communicators for each entry, even
  /// if two entries are equal.
  ///
  /// The entry at this index lists the mesh axes along which the all-gather
  /// communicates. Example: for the set {dp}, the ranks that differ only in
  /// their coordinate on the axis dp communicate with each other.
  ///
  /// Only all-gathers that are split into a start and a finish use this entry.
  /// Other collectives use an equal entry, and therefore another communicator.
  /// These collectives can then run between the start and the finish of the
  /// all-gather.
  int group;
};

/// Returns the all-gathers of weights that the ranks can start early, in
/// program order. An early all-gather communicates while the ranks execute ops
/// that do not need the weight. Considers only functions that run once per
/// microbatch. `facts.functions`, `facts.groups` and `facts.groupOfKind` must
/// be filled. Appends entries to `facts.groups` for the early all-gathers. The
/// runtime creates separate communicators for each entry. Early all-gathers
/// therefore do not share communicators with collectives that run at the same
/// time.
std::vector<Prefetch> findPrefetches(ModelFacts &facts);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_WEIGHTPREFETCHES_H
