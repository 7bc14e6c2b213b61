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

/// Replaces launches of element-wise GPU kernels in `block`, an MLIR block. One
/// multi-tensor launch replaces several launches that apply equal ops to
/// different tensors. No replaced launch may depend on another replaced launch.
/// Returns the number of removed launches minus the number of new launches.
/// Example: 10 launches update 10 weights with the Adam optimizer. If one
/// multi-tensor launch replaces the 10 launches, the function returns 9.
///
/// A multi-tensor launch needs a new kernel. The function calls `find` with
/// each new kernel. `find` takes ownership of the new kernel. If the MLIR
/// module has an equal kernel, `find` returns the equal kernel. Otherwise,
/// `find` adds the new kernel to the module and returns it.
///
/// If the function has replaced launches, `block` also changes in two other
/// ways:
///
///   - All graph.set_parameter ops are at the end of `block`. A
///     graph.set_parameter op stores the new value of a parameter.
///   - An op of `block` may use the result of a later op. The ops must be
///     sorted before they can run. topologicalOrder() returns a valid order.
size_t joinLaunches(mlir::Block &block,
                    llvm::function_ref<rank::KernelOp(rank::KernelOp)> find);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_FUSE_MULTITENSORLAUNCH_H
