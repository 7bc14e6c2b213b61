//===- AttentionGroups.h - kernel groups of fused attention ---------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
#define PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H

#include "passes/7-emit/fuse/KernelGroups.h"

namespace pcc::emit {

/// Returns one group of ops for each attention op and each attention gradient
/// op of `block`. Each group will become one GPU kernel. The block must not
/// contain attention ops that the fused attention kernels do not support.
///
/// A group contains the attention op, and the transposes, slices and reshapes
/// around the attention op. The kernel does not execute these other ops.
/// Instead, the kernel reads and writes its tensors with strides:
///
///   transpose q, k, v -> attention -> transpose   becomes   one kernel
std::vector<KernelGroup> groupAttention(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
