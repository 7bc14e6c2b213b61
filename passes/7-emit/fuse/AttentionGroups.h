//===- AttentionGroups.h - attention that is a kernel of its own ----------===//

#ifndef PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
#define PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H

#include "passes/7-emit/fuse/KernelGroups.h"

namespace pcc::emit {

/// A group for every attention of `block`, all of which are fused: with it,
/// layout ops that say in which order it reads its operands and stores its
/// result.
std::vector<KernelGroup> groupAttention(mlir::Block &block);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_FUSE_ATTENTIONGROUPS_H
