//===- OrderedSums.h - reproducible sums over the batch, as binary trees --===//

#ifndef PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
#define PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Rewrites ops for `--reproducible`: the bits of the results then do not
/// depend on how many ranks divide the batch. Each microbatch has 2^k blocks of
/// an odd number of samples. A sum over the batch adds the samples of each
/// block, then the blocks of each microbatch in a binary tree, as (0 + 1) + (2
/// + 3), and then the microbatches. A matmul with the rows of all samples
/// becomes one product per sample. Rewrites only ops with exactly one batch
/// dim, which the number of microbatches divides. Emits an error and fails if
/// ranks cannot divide the blocks evenly. `seeds` may refer to erased ops, so
/// call Seeds::resolve again.
mlir::LogicalResult orderSums(mlir::func::FuncOp function, const Seeds &seeds,
                              const dist::Mesh &mesh);

/// Returns whether a mesh axis may split the batch dim over which `op` sums.
/// The result matters only if the user gives the option `--reproducible`.
/// Returns true if orderSums has created `op`, because the order of additions
/// in `op` is then fixed. Also returns true if `op` is null.
bool mayDivideSum(mlir::Operation *op);
/// Returns whether `op` may read partial sums over the batch if the user gives
/// the option `--reproducible`. In a partial sum, each rank has one addend of a
/// tensor. `op` must not change the order of the additions. Returns true if
/// `op` is a `graph.reduce` that orderSums has created, if `op` only copies
/// elements, as a transpose does, or if `op` is null, for an argument or a
/// result of the function.
bool mayPassSum(mlir::Operation *op);

/// Removes the attributes by which orderSums has marked the ops that it
/// created. All shardings must have been decided before.
void eraseSumOrderMarks(mlir::func::FuncOp function);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
