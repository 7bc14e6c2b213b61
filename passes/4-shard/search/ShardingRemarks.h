//===- ShardingRemarks.h - remarks to the user about decided shardings ----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
#define PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// Emits up to two remarks about the function:
///
/// - dims that are split into uneven parts, and therefore padded
/// - ops that every rank computes completely, because their rules allow no
///   split
void remarkOnShardings(mlir::func::FuncOp function);

/// Emits a remark that lists the contraction weights that `axis`, an axis of
/// tensor parallelism, leaves whole on every rank, with the reason.
void remarkOnWholeWeights(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark for each given preset zero1 or zero2, if the function does
/// not train. These presets divide gradients and optimizer state, which only
/// training has.
void remarkOnIdlePresets(mlir::func::FuncOp function);

/// Emits a remark if the model has no sequence that `axis` could split, or if
/// seeds (requested shardings) keep the sequence whole.
void remarkOnWholeSequence(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark if the sub-axes `experts` divide the experts into more parts
/// than a weight has experts. Some ranks then have the same experts.
void remarkOnExperts(const ShardedGraph &graph, const dist::SubAxes &experts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
