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

/// Divides the ops of `block` into groups, each of which will become one
/// kernel. Returns the groups in the order of their last ops. No kernel needs
/// its own result as an input. An op that no kernel can compute, such as a
/// matmul, belongs to no group. Example: the ops matmul, add, relu, matmul give
/// one group, add and relu. A constant belongs to no group. An iota or a global
/// index is a group only if an op without a group reads it, since kernels
/// compute such indices themselves. A reshape joins the group of a reader or no
/// group.
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
