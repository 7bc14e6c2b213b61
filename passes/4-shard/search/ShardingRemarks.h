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

/// Emits a remark that lists the large weights of matmuls, einsums and
/// convolutions that `axis` does not split. `axis` is the axis of tensor
/// parallelism. Each rank along `axis` has all elements of such a weight. The
/// remark gives the reason for each weight: a requested sharding keeps the
/// weight whole, or no dim of the weight can be split over `axis`. If there is
/// no weight to list, the function emits no remark.
void remarkOnWholeWeights(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark for each given preset zero1 or zero2, if the function does
/// not train. These presets divide gradients and optimizer state, which only
/// training has.
void remarkOnIdlePresets(mlir::func::FuncOp function);

/// Emits a remark if the model has no sequence that `axis` could split, or if
/// seeds (requested shardings) keep the sequence whole.
void remarkOnWholeSequence(const ShardedGraph &graph, const dist::Axis &axis);

/// Emits a remark if the experts of a weight are divided into more parts than
/// the weight has experts. `experts` lists the mesh axes (or parts of mesh
/// axes) that divide the experts. Example: a weight contains the matrices of 2
/// experts, and the user divides the experts into 4 parts by `--ep 4`. Some
/// ranks then have the same expert.
void remarkOnExperts(const ShardedGraph &graph, const dist::SubAxes &experts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_SHARDINGREMARKS_H
