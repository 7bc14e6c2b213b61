//===- KernelGroups.h - fusion of ops into kernels ------------------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H
#define PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H

#include "passes/7-emit/kernel/Plan.h"
#include "llvm/ADT/SetVector.h"

namespace pcc::emit {

/// Ops that run as one kernel.
struct KernelGroup {
  /// Ops of the group, in the order of the block.
  llvm::SetVector<mlir::Operation *> ops;
  /// Iteration space of the kernel: the shape of its rows, or of its results if
  /// nothing reduces.
  llvm::SmallVector<int64_t> shape;
  /// Rows of the group's reductions; std::nullopt if nothing reduces.
  std::optional<RowSpace> rows;
};

/// Divides the ops of `block` into groups, in the order of the block. Ops that
/// no kernel can hold belong to no group.
///
/// Producer-consumer fusion: going backwards, an op joins the group of one of
/// its users if the group keeps one iteration space and repeats no expensive
/// work. Results that ops outside of the group read are stored as well:
///
///   x -> exp -> reduce sum -> div     one group over the rows of the sum
///   matmul -> add -> relu -> matmul   one group: add, relu
///
/// Constants and indices belong to no group, since each user's kernel holds a
/// copy. An index is a group of its own if an op outside of all groups reads
/// it. A reshape never starts a group, since it is free outside of groups.
///
/// Invariant: a group can run as a whole. No path of uses leaves the group and
/// returns to it.
std::vector<KernelGroup> groupKernels(mlir::Block &block);

/// Clones each cheap op of `block` whose readers are several slices, possibly
/// through reshapes, so that every slice can fuse with a producer of its own.
/// Leaves an op alone if its slices have more elements in all than its result.
/// Example: the q, k and v parts of a fused projection then add their parts of
/// the bias, and the whole sum is never stored.
void splitBeforeSlices(mlir::Block &block);

/// Returns whether a kernel that reads the result of `op` holds a copy of `op`
/// rather than taking the result as an operand.
bool isCopiedIntoKernels(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H
