//===- Attention.h - descriptions of attention kernels for cuDNN ----------===//
//
// A program for GPUs has a generated kernel for every attention. On a machine
// with cuDNN, the library computes most of them faster than the kernel
// (runtime/device/cuda/Attention.cpp). The instruction that launches the kernel
// therefore describes the attention, so that the device can choose at run time.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_INSTRUCTIONS_ATTENTION_H
#define PCC_PASSES_7_EMIT_INSTRUCTIONS_ATTENTION_H

#include "passes/7-emit/program/InstructionTable.h"

namespace pcc::emit {

/// Returns a description by which a device can call cuDNN instead of `kernel`,
/// which `launch` launches. Returns null if cuDNN does not support the kernel.
/// Also returns null for a gradient of queries: pairAttentionGradients() adds
/// its description later.
std::unique_ptr<program::AttentionT>
describeAttention(rank::LaunchOp launch, rank::KernelOp kernel,
                  InstructionWriter &writer);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_INSTRUCTIONS_ATTENTION_H
