//===- OrderedSums.h - reproducible sums over the batch, as binary trees --===//

#ifndef PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
#define PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Rewrites sums over the batch for `--reproducible`. The order of the
/// additions then depends only on the positions of the samples in the batch.
/// Thus a sum has equal bits for every number of ranks that divide the batch.
///
/// The batch has m microbatches. A microbatch is 2^k blocks of q samples, where
/// q is odd. The order of the additions is
///
/// 1. the samples of each block;
/// 2. the blocks of each microbatch, in a binary tree;
/// 3. the microbatches, one after another.
///
/// The op
///
///   %g = graph.einsum "bi,bj->ij"      x [B, i], y [B, j]
///
/// becomes
///
///   %p = graph.einsum "abi,abj->aij"   x [m·2^k, q, i] …: a product per block
///   %t = graph.reduce sum over [1]     of [m·2^(k-1), 2, i, j]; k times in all
///   %g = graph.reduce sum over [0]     of [m, i, j]
///
/// Each rank that divides the batch has whole branches of the tree, and
/// collectives add the sums of their ranks in the order of the tree.
///
/// - Products (matmul, einsum), sums and means are rewritten.
/// - Other ops that sum over the batch are not divided along the batch
///   (`mayDivideSum`).
/// - A product of a matrix whose rows are samples becomes one product per
///   sample. Otherwise a library might choose another kernel if a rank has
///   another number of samples.
///
/// Ops are replaced, so `seeds` must be resolved again afterwards. Emits an
/// error and fails if the axes of `mesh` would divide the batch into parts that
/// are no branches of the tree.
mlir::LogicalResult orderSums(mlir::func::FuncOp function, const Seeds &seeds,
                              const dist::Mesh &mesh);

/// Returns whether an axis may divide the sum of `op` over the batch. True if
/// `op` is part of an ordered sum (a sum that orderSums has rewritten), because
/// the division does not change the order of additions there. True as well if
/// `op` is null.
bool mayDivideSum(mlir::Operation *op);
/// Returns whether partial sums over the batch may pass through `op` without a
/// change of the order of additions. This is so in three cases:
///
/// - `op` is a reduction in an ordered sum (a sum that orderSums has
///   rewritten).
/// - `op` only moves elements.
/// - `op` is null.
bool mayPassSum(mlir::Operation *op);

/// Removes the attributes that mark the ops of ordered sums (sums that
/// orderSums has rewritten). Must be called after shardings are decided.
void eraseSumOrderMarks(mlir::func::FuncOp function);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
