//===- ShardingRemarks.h - what a user should know about decided shardings ===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
#define PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// Remarks, one of each kind for the whole function: which dims are split in
/// uneven parts and therefore padded, and which ops run whole on every rank
/// because their rule lets nothing be split.
void remarkOnShardings(mlir::func::FuncOp function);

/// A remark that lists the weights that tensor parallelism has to divide and
/// that are whole on every rank of `axis` all the same, and why.
void remarkOnWholeWeights(const ShardedGraph &graph, const dist::Axis &axis);

/// A remark for each preset that divides what only training has.
void remarkOnIdlePresets(mlir::func::FuncOp function);

/// A remark if there is no sequence that `axis` could split, or if it is pinned
/// whole.
void remarkOnWholeSequence(const ShardedGraph &graph, const dist::Axis &axis);

/// A remark if there are fewer experts than `experts` have parts, so that some
/// ranks share theirs.
void remarkOnExperts(const ShardedGraph &graph, const dist::SubAxes &experts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
