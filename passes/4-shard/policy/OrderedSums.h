//===- OrderedSums.h - reproducible sums over the batch, as binary trees --===//

#ifndef PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
#define PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Rewrites ops for the option `--reproducible`. After the rewrite, the bits of
/// the results do not depend on the number of ranks that divide the batch.
///
/// Each microbatch is divided into 2^k blocks of q samples, where q is odd. For
/// example, a microbatch of 12 samples has 4 blocks of 3 samples. A sum over
/// the batch is computed in three steps:
///
/// 1. The samples of each block are added.
/// 2. The sums of the blocks of one microbatch are added in a binary tree. For
///    example, 4 blocks are added as (0 + 1) + (2 + 3).
/// 3. The sums of the microbatches are added, one after another.
///
/// Three kinds of ops are rewritten:
///
/// - A matmul or einsum that sums over the batch. In the example below, the
///   batch dim b has 24 samples in 2 microbatches.
/// - A sum or mean over the batch. The new ops add in the three steps above.
/// - A matmul that does not sum over the batch, and whose left operand has the
///   rows of all samples. A library may use different algorithms for different
///   numbers of rows, and the results may differ in some bits. The new matmul
///   therefore computes one product for each sample. For 8 samples of 4 rows,
///   [32, h] x [h, n] becomes [8, 4, h] x [h, n].
///
/// Example of the first kind:
///
///   %g = graph.einsum "bi,bj->ij"       adds the products of 24 samples
///
/// A reshape divides the dim b of 24 samples into two dims a and b. The new dim
/// a counts the 8 blocks of both microbatches. The new dim b counts the 3
/// samples of one block. The einsum then becomes these ops. The right column
/// shows the shapes of their results:
///
///   %p = graph.einsum "abi,abj->aij"   one product per block   [8, i, j]
///   %q = graph.reshape                 groups the blocks       [2, 2, 2, i, j]
///   %s = graph.reduce sum              adds blocks of a pair   [2, 2, i, j]
///   %t = graph.reduce sum              adds pairs              [2, i, j]
///   %g = graph.reduce sum              adds microbatches       [i, j]
///
/// The shape [2, 2, 2, i, j] has the 8 blocks as 2 microbatches of 2 pairs of 2
/// blocks. The three sums add the 2 blocks of each pair, then the 2 pairs of
/// each microbatch, and then the 2 microbatches.
///
/// An op is rewritten only if it has exactly one batch dim, and the number of
/// microbatches divides this dim evenly. Ranks do not divide the batch dim of
/// any other op that sums over the batch (see mayDivideSum).
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
/// Returns whether `op` may read partial sums over the batch, if the user gives
/// the option `--reproducible`. A tensor is a partial sum if each rank has one
/// addend of the tensor, and the ranks have not added the addends yet. If `op`
/// reads a partial sum, each rank applies `op` to its own addend. The ranks add
/// the results later.
///
/// The option `--reproducible` fixes the order in which the samples of the
/// batch are added. `op` may therefore read a partial sum only if `op` does not
/// change this order. Returns true in three cases:
///
/// - `op` is a `graph.reduce` that orderSums has created.
/// - `op` only copies elements of its operands, as a transpose does.
/// - `op` is null. The search passes null for an argument or a result of the
///   compiled function, which is not an op.
bool mayPassSum(mlir::Operation *op);

/// Removes the attributes by which orderSums has marked the ops that it
/// created. All shardings must have been decided before.
void eraseSumOrderMarks(mlir::func::FuncOp function);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
