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
  /// Iteration space of the kernel: the shape of the reduction's operand, or of
  /// the results if the group has no reduction.
  llvm::SmallVector<int64_t> shape;
  /// Dims of `shape` that the group's reductions reduce, and dims that they
  /// keep. std::nullopt if the group has no reduction.
  std::optional<RowSpace> rows;
};

/// Divides the ops of `block` into groups, one per kernel. Returns the groups
/// in the order of the block. Ops that no kernel can compute, such as matmuls,
/// belong to no group:
///
///   x -> exp -> reduce sum -> div     one group: exp, reduce sum, div
///   matmul -> add -> relu -> matmul   one group: add, relu
///
/// The algorithm is producer-consumer fusion from the last op to the first. An
/// op joins the group of a user if two conditions hold:
///
///   - One loop nest can compute the op and the group.
///   - The kernel does not repeat expensive work.
///
/// Three kinds of ops are special:
///
///   constant       belongs to no group: each kernel that reads it has a copy
///   iota,          belongs to no group for the same reason; but if a matmul or
///   global index   another op without a group reads it, it gets its own group
///   reshape        starts no group: outside of kernels it costs no time
///
/// No path of uses leaves a group and returns to it.
std::vector<KernelGroup> groupKernels(mlir::Block &block);

/// Clones each cheap op of `block` that only slices read, once per slice. Each
/// clone and its slice can then be fused. Does not clone an op if the slices
/// together have more elements than its result.
///
/// Example: q, k and v are three slices of x + bias. After cloning, each of
/// three kernels adds one third of the bias, and the whole sum is never stored.
void splitBeforeSlices(mlir::Block &block);

/// Returns whether kernels that read the result of `op` compute it on their
/// own, instead of loading it from memory. True for indices and for constants
/// of one repeated element.
bool isCopiedIntoKernels(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H
