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

/// Divides the ops of `block` into groups. Each group will become one kernel.
/// Returns the groups in the order of the block. An op that no kernel can
/// compute, such as a matmul, belongs to no group:
///
///   x -> exp -> reduce sum -> div     one group: exp, reduce sum, div
///   matmul -> add -> relu -> matmul   one group: add, relu
///
/// Visits the ops from the last to the first. An op joins the group of an op
/// that reads its result if two conditions hold:
///
///   - One loop nest can compute the op and the group.
///   - The kernel does not repeat expensive work.
///
/// Three kinds of ops are special:
///
///   constant       A constant belongs to no group. If all its elements are
///                  equal, each kernel that reads it contains a copy.
///   iota,          Each kernel that reads the indices computes them. If an op
///   global index   without a group, such as a matmul, reads the indices, the
///                  iota or global index is a group of its own.
///   reshape        A reshape belongs to the group of an op that reads it, or
///                  to no group. Outside of kernels a reshape costs no time.
///
/// A kernel never needs its own result as an input. Example: b reads a, and c
/// reads b. If a and c are in one group, b is in the same group.
std::vector<KernelGroup> groupKernels(mlir::Block &block);

/// Prepares cheap ops of `block` for fusion. An op is cheap if one element of
/// its result costs few instructions. If several slices read the result of a
/// cheap op, and no other op reads it, gives each slice its own clone of the
/// cheap op. A reshape may lie between the op and a slice. Each clone and its
/// slice can then be fused into one kernel. Does not clone an op if the slices
/// together have more elements than the result of the op.
///
/// Example: q, k and v are three slices of x + bias. After cloning, q is a
/// slice of one addition, k of another one, and v of a third one. Three kernels
/// compute q, k and v. Each kernel adds only the elements that its slice needs.
/// The whole tensor x + bias is never stored.
void splitBeforeSlices(mlir::Block &block);

/// Returns whether a kernel that reads the result of `op` computes the elements
/// of the result itself, instead of loading the elements from memory. True for
/// three kinds of ops:
///
///   - A constant whose elements are all equal.
///   - An iota. Each element of its result is the index of the element along
///     one dim.
///   - A global index. Each element of its result is the index of the element
///     along one dim of the whole, unsharded tensor.
bool isCopiedIntoKernels(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H
