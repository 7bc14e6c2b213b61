//===- OrderedSums.h - reproducible sums over the batch, as binary trees --===//

#ifndef PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
#define PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H

#include "passes/4-shard/graph/Seeds.h"

namespace pcc::shard {

/// Rewrites ops for `--reproducible`: the bits of the results then do not
/// depend on how many ranks divide the batch. Sums over the batch become binary
/// trees of additions. Emits an error and fails if ranks cannot divide a
/// microbatch evenly. Erases ops, so the caller must call Seeds::resolve again.
mlir::LogicalResult orderSums(mlir::func::FuncOp function, const Seeds &seeds,
                              const dist::Mesh &mesh);

/// Returns whether, with `--reproducible`, a mesh axis may split the batch dim
/// over which `op` sums. True if orderSums has created `op`. Also true if `op`
/// is null, as for an input of the model.
bool mayDivideSum(mlir::Operation *op);
/// Returns whether, with `--reproducible`, `op` may read partial sums over the
/// batch. True for a `graph.reduce` that orderSums has created, and for an op
/// that only copies elements, such as a transpose. Also true if `op` is null,
/// as for an output of the model.
bool mayPassSum(mlir::Operation *op);

/// Removes the attributes by which orderSums has marked the ops that it
/// created. All shardings must have been decided before.
void eraseSumOrderMarks(mlir::func::FuncOp function);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_POLICY_ORDEREDSUMS_H
