//===- MultiTensorLaunch.h - multi-tensor apply: joined kernel launches ---===//
//
// An optimizer applies the same few element-wise ops to every weight. Many
// weights are so small that a launch costs more time than its work. Launches of
// kernels that differ only in their shape are therefore joined into one launch
// (multi-tensor apply, NVIDIA Apex).
//
// The kernel of a joined launch works on *tiles* of a fixed number of elements,
// one per block of threads. The launch lists the tensors, and each tensor is
// cut into tiles. Kernel operands with one element, such as the learning rate,
// are shared by all tensors:
//
//   @adam_of_768(w0, …, rate)          @adam_of_tiles shared(rate)
//   @adam_of_768x2304(w1, …, rate)  →                 over (w0 w1 w2 …)
//   @adam_of_768(w2, …, rate)
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_FUSE_MULTITENSORLAUNCH_H
#define PCC_PASSES_7_EMIT_GPU_FUSE_MULTITENSORLAUNCH_H

#include "dialects/rank/RankDialect.h"

namespace pcc::emit {

/// Joins independent launches of `block` into multi-tensor launches, each of
/// which computes many tensors. Returns the number of launches saved.
///
/// `find` takes ownership of a new kernel. If the module has an equal kernel,
/// `find` returns that kernel. Otherwise it adds the new kernel to the module
/// and returns it.
///
/// If launches were joined, `block` changes in two more ways:
///
///   - All graph.set_parameter ops are at the end.
///   - An op may precede the producers of its operands. topologicalOrder()
///     returns a valid order.
size_t joinLaunches(mlir::Block &block,
                    llvm::function_ref<rank::KernelOp(rank::KernelOp)> find);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_FUSE_MULTITENSORLAUNCH_H
