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
  /// Iteration space of the kernel. In a group with a reduction, this is the
  /// shape of the reduction's operand. Otherwise it is the shape of the
  /// results.
  llvm::SmallVector<int64_t> shape;
  /// Division of the kernel's iteration space `shape` into dims that the
  /// group's reductions reduce and dims that they keep. std::nullopt if the
  /// group has no reduction.
  std::optional<RowSpace> rows;
};

/// Divides the ops of `block` into groups that become kernels, in the order of
/// the block. Ops that no kernel can hold, such as matmuls, belong to no group.
///
/// The algorithm is producer-consumer fusion. It visits the ops from last to
/// first. An op joins the group of one of its users if the group keeps one
/// iteration space and repeats no expensive work. The group also stores results
/// that ops outside of the group read:
///
///   x -> exp -> reduce sum -> div     one group over the rows of the sum
///   matmul -> add -> relu -> matmul   one group: add, relu
///
/// Three kinds of ops are special:
///
///   constant   belongs to no group: each kernel that reads it holds a copy
///   index op   (iota, global index) belongs to no group for the same reason,
///              but becomes a group of one op if a reader is in no group
///   reshape    starts no group: outside of groups a reshape costs no time
///
/// Invariant: each group can run as one kernel. No path of uses leaves the
/// group and returns to it.
std::vector<KernelGroup> groupKernels(mlir::Block &block);

/// Clones each cheap op of `block` that only slices read, directly or through
/// reshapes. Each slice gets a clone of its own as producer, so that clone and
/// slice can be fused. Does not clone an op if all slices together have more
/// elements than its result.
///
/// Example: q, k and v are three slices of x + bias. With three clones of the
/// addition, each fused kernel adds one third of the bias, and the whole sum is
/// never stored.
void splitBeforeSlices(mlir::Block &block);

/// Returns whether each kernel that reads the result of `op` holds a clone of
/// `op` instead of reading the result from memory as an operand. True for
/// constants of one repeated element and for indices.
bool isCopiedIntoKernels(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H
