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
/// The algorithm is producer-consumer fusion: from the last op to the first, an
/// op joins the group of one of its users if the group keeps one iteration
/// space and repeats no expensive work. The group also stores results that ops
/// outside of the group read:
///
///   x -> exp -> reduce sum -> div     one group over the rows of the sum
///   matmul -> add -> relu -> matmul   one group: add, relu
///
/// Constants and index ops (iota, global index) belong to no group, since each
/// kernel that reads one holds a copy. The exception is an index op that an op
/// outside of all groups reads: it becomes a group of one op. A reshape never
/// starts a group, since a reshape outside of groups costs no time.
///
/// Invariant: each group can run as one kernel. No path of uses leaves the
/// group and returns to it.
std::vector<KernelGroup> groupKernels(mlir::Block &block);

/// Clones each cheap op of `block` whose only readers are slices, directly or
/// through reshapes. Each slice gets one clone as its producer, so that the two
/// can be fused. Does not clone an op if its slices have more elements in total
/// than the op's result.
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
