//===- AttentionGroups.h - kernel groups of fused attention ---------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
#define PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H

#include "passes/7-emit/fuse/KernelGroups.h"

namespace pcc::emit {

/// Returns one group of ops for each attention op and attention gradient op of
/// `block`. Each group becomes one GPU kernel. It includes the transposes,
/// slices and reshapes that the kernel replaces by strided reads and writes.
/// The fused kernels must support every attention op of `block`.
std::vector<KernelGroup> groupAttention(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
