//===- OrderedSums.h - reproducible sums over the batch, as binary trees --===//

#ifndef PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
#define PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Rewrites sums over the batch for `--reproducible`, so that the order of
/// additions follows from the positions of samples alone. The bits of a sum
/// then do not depend on the number of ranks that divide the batch.
///
/// B samples in m microbatches make m · 2^k blocks of q samples, with q odd.
/// The samples of a block are summed first, then the 2^k blocks of a microbatch
/// in a binary tree, then the microbatches one after another:
///
///   %g = graph.einsum "bi,bj->ij"      x [B, i], y [B, j]
///
/// becomes
///
///   %p = graph.einsum "abi,abj->aij"   x [m·2^k, q, i] …: a product per block
///   %t = graph.reduce sum over [1]     of [m·2^(k-1), 2, i, j]; k times in all
///   %g = graph.reduce sum over [0]     of [m, i, j]
///
/// Ranks that divide the batch hold whole branches of the tree, and collectives
/// add the parts of their members in the order of the tree. Ordered are
/// products (matmul, einsum) and sums or means; other ops that sum over the
/// batch are not divided along it (`mayDivideSum`). A product of a matrix whose
/// rows are samples becomes one product per sample, so that a library's choice
/// of kernel does not depend on the number of local samples.
///
/// Invalidates `seeds` for replaced ops, so seeds must be resolved again. Fails
/// after an error if the axes of `mesh` would divide the batch into parts that
/// are not branches of the tree.
mlir::LogicalResult orderSums(mlir::func::FuncOp function, const Seeds &seeds,
                              const dist::Mesh &mesh);

/// Returns whether an axis may divide the sum of `op` over the batch without
/// changing its order: `op` is part of an ordered sum. Null counts as an op
/// without a sum.
bool mayDivideSum(mlir::Operation *op);
/// Returns whether partial sums over the batch may pass `op` without changing
/// their order: `op` is a reduction of an ordered sum, or only moves elements.
/// Null counts as an op without a sum.
bool mayPassSum(mlir::Operation *op);

/// Removes the marks of ordered sums. Called once shardings have been decided.
void eraseSumOrderMarks(mlir::func::FuncOp function);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
