//===- OrderedSums.h - reproducible sums over the batch, as binary trees --===//

#ifndef PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
#define PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Rewrites sums over the batch for the option `--reproducible`. A sum then has
/// the same bits for every number of ranks that divide the batch. A microbatch
/// is divided into 2^k blocks of q samples, where q is odd. For example, a
/// microbatch of 12 samples has 4 blocks of 3 samples. The additions have this
/// order:
///
/// 1. The samples of each block are added.
/// 2. The sums of the blocks of one microbatch are added in a binary tree. For
///    example, 4 blocks are added as (0 + 1) + (2 + 3).
/// 3. The sums of the microbatches are added, one after another.
///
/// For a batch dim b in m microbatches, the op
///
///   %g = graph.einsum "bi,bj->ij"       sums over b
///
/// becomes these ops, in which the dim a counts the blocks of all microbatches:
///
///   %p = graph.einsum "abi,abj->aij"    a product per block:   [m·2^k, i, j]
///   %t = graph.reduce sum, k times      adds pairs of blocks:  [m, i, j]
///   %g = graph.reduce sum               adds microbatches:     [i, j]
///
/// - Products (matmul, einsum), sums and means over the batch are rewritten.
/// - Other ops that sum over the batch are not rewritten. Mesh axes do not
///   split the batch dim of these ops (`mayDivideSum`).
/// - A matmul whose left operand has the rows of all samples becomes a matmul
///   with a batch dim. For 8 samples of 4 rows, [32, k] x [k, n] becomes
///   [8, 4, k] x [k, n].
///
/// `seeds` contains the requested shardings, and refers to ops that this
/// function may replace. After this call, the caller must call Seeds::resolve
/// again. Emits an error and fails if the ranks of `mesh` that divide the batch
/// cannot divide the blocks of a microbatch evenly.
mlir::LogicalResult orderSums(mlir::func::FuncOp function, const Seeds &seeds,
                              const dist::Mesh &mesh);

/// Returns whether a mesh axis may split the batch dim over which `op` sums.
/// The result matters only if the user gives the option `--reproducible`.
/// Returns true if orderSums has created `op`, because the order of additions
/// in `op` is then fixed. Also returns true if `op` is null.
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
