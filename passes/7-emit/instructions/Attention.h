//===- Attention.h - attention that a library may know --------------------===//
//
// A GPU has a kernel for attention; where it has cuDNN, that computes it sooner
// (runtime/device/cuda/Attention.cpp). So the program says of such a kernel
// what it computes.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_INSTRUCTIONS_ATTENTION_H
#define PCC_PASSES_7_EMIT_INSTRUCTIONS_ATTENTION_H

#include "passes/7-emit/program/InstructionTable.h"

namespace pcc::emit {

/// What a launch of `kernel` computes, if that is attention or the gradients of
/// its keys and values as cuDNN may have them: null otherwise. The gradient of
/// the queries is held until then.
std::unique_ptr<program::AttentionT>
describeAttention(rank::LaunchOp launch, rank::KernelOp kernel,
                  InstructionWriter &writer);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_INSTRUCTIONS_ATTENTION_H
