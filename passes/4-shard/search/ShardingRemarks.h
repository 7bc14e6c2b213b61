//===- ShardingRemarks.h - remarks to the user about decided shardings ----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
#define PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// Emits up to two remarks for the function: the dims that are split into
/// uneven parts and therefore padded, and the ops that run whole on every rank
/// because their rule lets nothing be split.
void remarkOnShardings(mlir::func::FuncOp function);

/// Emits a remark that lists the contraction weights that are whole on every
/// rank of `axis`, and why. `axis` is an axis of tensor parallelism, which has
/// to divide them.
void remarkOnWholeWeights(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark for each given preset (zero1, zero2) that shards only what
/// training has, if the function does not train.
void remarkOnIdlePresets(mlir::func::FuncOp function);

/// Emits a remark if the model has no sequence that `axis` could split, or if
/// seeds pin the sequence whole.
void remarkOnWholeSequence(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark if a weight has fewer experts than `experts` has parts. Some
/// ranks then hold replicas of the same experts.
void remarkOnExperts(const ShardedGraph &graph, const dist::SubAxes &experts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
