//===- AttentionGroups.h - kernel groups of fused attention ---------------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
#define PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H

#include "passes/7-emit/fuse/KernelGroups.h"

namespace pcc::emit {

/// Returns one group of ops, which becomes one kernel, for each attention op
/// and each attention gradient op of `block`. The fused GPU kernel must support
/// all of these ops, since other attention ops have been lowered to matmuls and
/// a softmax. Each group also holds the transposes, slices and reshapes of
/// operands and results that the kernel replaces by strided reads and writes:
///
///   transpose q, k, v -> attention -> transpose   becomes   one kernel
std::vector<KernelGroup> groupAttention(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
