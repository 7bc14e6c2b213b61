//===- AttentionGroups.h - kernel groups of fused attention ---------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
#define PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H

#include "passes/7-emit/fuse/KernelGroups.h"

namespace pcc::emit {

/// Returns one group of ops for each attention op or attention gradient op of
/// `block`. Each group becomes one kernel. The fused GPU kernel must support
/// all of these attention ops.
///
/// A group also holds the transposes, slices and reshapes around the attention
/// op. The kernel replaces them by strided reads and writes:
///
///   transpose q, k, v -> attention -> transpose   becomes   one kernel
std::vector<KernelGroup> groupAttention(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
