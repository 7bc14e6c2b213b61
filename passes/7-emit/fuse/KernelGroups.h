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
  /// Shape over which the loops of a kernel iterate. The kernel will compute
  /// all ops of this group. The loops have one iteration per element of a
  /// tensor of this shape:
  ///
  ///   group                 `shape`
  ///   with a reduction      shape of the operand of the reduction
  ///   without a reduction   shape of each result that the kernel stores
  ///
  /// Example: a group computes exp of a tensor [8, 32], and then the sum over
  /// dim 1. The result has the shape [8], but `shape` is [8, 32].
  ///
  /// If the group contains an attention op, `shape` is the shape of the
  /// queries. The loops of an attention kernel do not depend on `shape`.
  llvm::SmallVector<int64_t> shape;
  /// Dims that the reductions of this group reduce, and dims that the
  /// reductions keep. All reductions of a group reduce the same dims. Example:
  /// a sum over dim 1 of a tensor [8, 32] reduces dim 1 and keeps dim 0. A
  /// softmax and a norm count as reductions. The field is std::nullopt if the
  /// group has no reduction.
  std::optional<RowSpace> rows;
};

/// Divides the ops of `block` into groups. Each group will become one kernel.
/// An op that no kernel can compute, such as a matmul, belongs to no group.
/// Examples, where each op reads the result of the op before it:
///
///   ops of the block            group
///   exp, reduce sum, div        exp, reduce sum, div
///   matmul, add, relu, matmul   add, relu
///
/// Returns the groups in the order in which their last ops are in the block.
///
/// Visits the ops of the block from the last op to the first op. Let the op b
/// belong to a group, and let b read the result of the op a. The op a joins the
/// group of b if these conditions hold:
///
///   - One loop nest can compute a and all ops of the group.
///   - The kernel need not repeat much expensive work to compute a.
///   - The group is not too large.
///   - No kernel would need its own result as an input. Example: c reads a, and
///     b reads both a and c. If a and b are in one group, c must be in the same
///     group.
///
/// If a can join no group, a new group begins, which contains only a. Three
/// kinds of ops are special:
///
///   - A constant belongs to no group. If all elements of the constant are
///     equal, each kernel that reads the constant contains a copy.
///   - An iota and a global index compute indices. Each element of an iota is
///     the index of the element along one dim. Each element of a global index
///     is the index of the element along one dim of the whole, unsharded
///     tensor. Each kernel that reads the indices computes the indices itself.
///     If an op without a group also reads the indices, the iota or the global
///     index is a group by itself.
///   - A reshape belongs to the group of an op that reads the reshape, or to no
///     group. Outside of kernels, a reshape costs no time.
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
