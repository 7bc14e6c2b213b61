//===- AttentionGroups.h - kernel groups of fused attention ---------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
#define PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H

#include "passes/7-emit/fuse/KernelGroups.h"

namespace pcc::emit {

/// Returns the groups of ops of `block` that become attention kernels: one
/// group for each attention op or attention gradient op. The fused GPU kernel
/// must support all of these ops. A group also holds transposes, slices and
/// reshapes of operands and results, which the kernel replaces by strided reads
/// and writes:
///
///   transpose q, k, v -> attention -> transpose   becomes   one kernel
std::vector<KernelGroup> groupAttention(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
