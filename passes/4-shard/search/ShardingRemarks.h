//===- ShardingRemarks.h - remarks to the user about decided shardings ----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
#define PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// Emits up to two remarks about the function. The first one lists the dims
/// that are split into uneven parts and therefore padded. The second one lists
/// the ops that every rank computes completely, because their rules do not
/// allow any split.
void remarkOnShardings(mlir::func::FuncOp function);

/// Emits a remark that lists the contraction weights which are whole on every
/// rank of `axis`, with the reason. `axis` is an axis of tensor parallelism,
/// which should divide them.
void remarkOnWholeWeights(const ShardedGraph &graph, const dist::Axis &axis);

/// If the function does not train, emits a remark for each of the presets zero1
/// and zero2 that was given, because they divide only what training needs.
void remarkOnIdlePresets(mlir::func::FuncOp function);

/// Emits a remark if the model has no sequence that `axis` could split, or if
/// seeds (requested shardings) keep the sequence whole.
void remarkOnWholeSequence(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark if a weight has fewer experts than there are parts, so that
/// some ranks have copies of the same experts. `experts` holds the sub-axes
/// that divide the experts into parts.
void remarkOnExperts(const ShardedGraph &graph, const dist::SubAxes &experts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
