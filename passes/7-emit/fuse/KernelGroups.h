//===- KernelGroups.h - which ops become one kernel -----------------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H
#define PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H

#include "passes/7-emit/kernel/Plan.h"
#include "llvm/ADT/SetVector.h"

namespace pcc::emit {

/// Ops that run as one kernel, in the order of the block.
struct KernelGroup {
  llvm::SetVector<mlir::Operation *> ops;
  /// The shape that the kernel walks: of its rows if it has some, else of its
  /// results.
  llvm::SmallVector<int64_t> shape;
  std::optional<RowSpace> rows;
};

/// Divides the ops of `block` that a kernel may hold into groups. A producer
/// joins the group of its users where that repeats no expensive work and where
/// the group still has one iteration space; its result is stored as well if
/// others need it. Constants and indices belong to no group: whoever uses them
/// holds a copy, except where an op outside needs an index. Reshapes outside of
/// groups cost nothing.
///
/// Invariant: a group can run as a whole. No path leads from it through other
/// ops back into it.
std::vector<KernelGroup> groupKernels(mlir::Block &block);

/// Gives every slice of a cheap value its own producer where the slices do not
/// need more elements than there are: the parts of a fused projection then add
/// their own bias, and the whole is never stored.
void splitBeforeSlices(mlir::Block &block);

/// Whether a kernel holds a copy of `op` instead of reading its result.
bool isCopiedIntoKernels(mlir::Operation *op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_KERNELGROUPS_H
