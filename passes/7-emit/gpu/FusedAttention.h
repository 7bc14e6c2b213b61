//===- FusedAttention.h - attention in one kernel -------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_FUSEDATTENTION_H
#define PCC_PASSES_7_EMIT_GPU_FUSEDATTENTION_H

#include "passes/7-emit/KernelWriter.h"
#include "passes/7-emit/gpu/AttentionPlan.h"

namespace pcc::emit {

/// Writes `op`, all of a kernel but for layout ops, whose result goes to
/// `output`. `block` and `thread` are the current ones' numbers.
void writeFusedAttention(KernelWriter &w, graph::AttentionOp op,
                         mlir::Value output, const Index &block,
                         const Index &thread);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_FUSEDATTENTION_H
