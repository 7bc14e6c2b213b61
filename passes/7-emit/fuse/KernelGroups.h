//===- KernelGroups.h - fusion of ops into kernels ------------------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H
#define PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H

#include "passes/7-emit/kernel/Plan.h"
#include "llvm/ADT/SetVector.h"

namespace pcc::emit {

/// Ops of one block that will be fused into one kernel.
struct KernelGroup {
  /// Ops of the group, in block order.
  llvm::SetVector<mlir::Operation *> ops;
  /// Shape over which the loops of the kernel iterate. With a reduction,
  /// `shape` is the shape of the operand of the reduction. Otherwise, each
  /// result that the kernel stores has this shape. Example: a group computes
  /// exp of a tensor [8, 32], and then the sum over dim 1. `shape` is [8, 32].
  /// For an attention op, `shape` is the shape of the queries, and the loops do
  /// not depend on `shape`.
  llvm::SmallVector<int64_t> shape;
  /// Dims that the reductions of this group reduce, and dims that the
  /// reductions keep. All reductions of a group reduce the same dims. Example:
  /// a sum over dim 1 of a tensor [8, 32] reduces dim 1 and keeps dim 0. A
  /// softmax and a norm count as reductions. The field is std::nullopt if the
  /// group has no reduction.
  std::optional<RowSpace> rows;
};

/// Divides the ops of `block` into groups, each of which becomes one kernel.
/// Returns the groups in the order of their last ops. An op that no kernel can
/// compute, such as a matmul, belongs to no group. No kernel depends on its own
/// result through ops outside of its group.
std::vector<KernelGroup> groupKernels(mlir::Block &block);

/// Gives each slice its own clone of a cheap op if only slices read the op.
/// Each clone can then be fused with its slice. Example: q, k and v are slices
/// of x + bias, and x + bias is never stored. Does not clone an op if its
/// slices together have more elements than its result.
void splitBeforeSlices(mlir::Block &block);

/// Returns whether kernels compute the elements of the result of `op`
/// themselves instead of loading them. True for an iota, a constant with equal
/// elements, and a global index (an index along one dim of the unsharded
/// tensor).
bool isCopiedIntoKernels(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H
