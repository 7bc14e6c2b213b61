//===- MultiTensorLaunch.h - one launch for many tensors ------------------===//
//
// An update is the same few operations on every weight, whose tensors are often
// so small that a launch costs more than its work. Kernels that differ in
// nothing but the shape that they go over, element by element, become one that
// goes over many tensors: its own tensors are *tiles*, of which a block
// computes one, and a launch lists the tensors that are cut into such tiles.
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

/// Joins launches of `block`. `find` gives the kernel with a body; what it is
/// given is in no module and is its own from then on. Afterwards what an op
/// reads may stand behind it, and parameters are set at the end. Returns how
/// many launches became fewer.
size_t joinLaunches(mlir::Block &block,
                    llvm::function_ref<rank::KernelOp(rank::KernelOp)> find);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_FUSE_MULTITENSORLAUNCH_H
