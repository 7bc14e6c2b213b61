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

/// Joins launches in `block` that apply equal element-wise ops to different
/// tensors. Returns how many launches this saves. `find` takes ownership of a
/// new kernel, and returns it or an equal kernel of the module. If the result
/// is not 0, the caller must sort the ops of `block` with topologicalOrder().
size_t joinLaunches(mlir::Block &block,
                    llvm::function_ref<rank::KernelOp(rank::KernelOp)> find);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_FUSE_MULTITENSORLAUNCH_H
