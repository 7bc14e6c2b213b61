//===- OrderedSums.h - reproducible sums over the batch, as binary trees --===//

#ifndef PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
#define PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Rewrites sums over the batch for `--reproducible`. A sum then has equal bits
/// for every number of ranks that divide the batch. A microbatch consists of
/// 2^k blocks of q samples, where q is odd. The additions have this order:
///
/// 1. the samples of each block;
/// 2. the blocks of each microbatch, in a binary tree;
/// 3. the microbatches, one after another.
///
/// For a batch dim b in m microbatches, the op
///
///   %g = graph.einsum "bi,bj->ij"       sums over b
///
/// becomes
///
///   %p = graph.einsum "abi,abj->aij"    a product per block:   [m·2^k, i, j]
///   %t = graph.reduce sum, k times      adds pairs of blocks:  [m, i, j]
///   %g = graph.reduce sum               adds microbatches:     [i, j]
///
/// - Products (matmul, einsum), sums and means are rewritten.
/// - Other ops that sum over the batch are not divided along it
///   (`mayDivideSum`).
/// - A product of a matrix whose rows are samples becomes one product per
///   sample.
///
/// `seeds` (requested shardings) refer to ops that this function replaces. The
/// caller must resolve them again afterwards. Emits an error and fails if the
/// ranks of `mesh` that divide the batch cannot divide the blocks of a
/// microbatch evenly.
mlir::LogicalResult orderSums(mlir::func::FuncOp function, const Seeds &seeds,
                              const dist::Mesh &mesh);

/// Returns whether an axis may divide the sum of `op` over the batch. True if
/// orderSums has created `op`, or if `op` is null.
bool mayDivideSum(mlir::Operation *op);
/// Returns whether partial sums over the batch may pass through `op` without a
/// change of the order of additions. True in three cases:
///
/// - `op` is a reduction in an ordered sum, which orderSums has rewritten.
/// - `op` only moves elements.
/// - `op` is null.
bool mayPassSum(mlir::Operation *op);

/// Removes the attributes by which orderSums has marked the ops that it
/// created. All shardings must have been decided before.
void eraseSumOrderMarks(mlir::func::FuncOp function);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
