//===- ShardingRemarks.h - remarks to the user about decided shardings ----===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
#define PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H

#include "passes/4-shard/graph/ShardedGraph.h"

namespace pcc::shard {

/// Emits up to two remarks. The first lists dims that are split unevenly and
/// therefore padded. The second lists ops that every rank executes on whole
/// tensors, because their sharding rules allow no split.
void remarkOnShardings(mlir::func::FuncOp function);

/// Emits a remark that lists large weights of matmuls, einsums and convolutions
/// that `axis` (tensor parallelism) does not split. It gives the reason: the
/// user set the sharding, or no dim can be split. Emits nothing if `axis`
/// splits all large weights.
void remarkOnWholeWeights(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark if the size of `axis` (tensor parallelism) does not divide
/// the number of heads of an attention. The remark names the nearest sizes that
/// do: for 12 heads and the axis tp=5, it names tp=4 and tp=6. Ops with a dim
/// of heads are then split along another dim, padded, or not split.
void remarkOnHeads(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark for each given preset zero1 or zero2, if the function does
/// not train. These presets divide gradients and optimizer state, which only
/// training has.
void remarkOnIdlePresets(mlir::func::FuncOp function);

/// Emits a remark if `axis` should split the sequence dim but cannot do so in
/// all tensors. Either no tensor of the model has a sequence dim, or a sharding
/// that the user set leaves the sequence dim of a tensor unsplit.
void remarkOnWholeSequence(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark if the axes `experts` divide the experts of a weight into
/// more shards than there are experts. Some ranks then have the same expert.
void remarkOnExperts(const ShardedGraph &graph, const dist::SubAxes &experts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
