//===- ShardingRemarks.h - remarks to the user about decided shardings ----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
#define PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// Emits up to two remarks. One lists dims that are split unevenly and
/// therefore padded. The second lists ops that run whole on every rank, because
/// their rules allow no split.
void remarkOnShardings(mlir::func::FuncOp function);

/// Emits a remark that lists large weights of matmuls, einsums and convolutions
/// that `axis` (tensor parallelism) does not split. It gives the reason: the
/// user set the sharding, or no dim can be split. Emits nothing if `axis`
/// splits all large weights.
void remarkOnWholeWeights(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark if the number of attention heads is no multiple of `axis`
/// (tensor parallelism), with the nearest sizes that divide it. Ops of the
/// heads are then split along other dims, padded, or whole.
void remarkOnHeads(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark for each given preset zero1 or zero2, if the function does
/// not train. These presets divide gradients and optimizer state, which only
/// training has.
void remarkOnIdlePresets(mlir::func::FuncOp function);

/// Emits a remark if the model has no sequence that `axis` could split, or if
/// shardings that the user set keep the sequence whole.
void remarkOnWholeSequence(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark if the axes `experts` divide the experts of a weight into
/// more shards than there are experts. Some ranks then have the same expert.
void remarkOnExperts(const ShardedGraph &graph, const dist::SubAxes &experts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
