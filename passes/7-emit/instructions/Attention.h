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
/// the kernel that `launch` launches. Returns null in three cases:
///
///   - The kernel contains no attention op.
///   - cuDNN does not support the attention op.
///   - The kernel computes the gradient of an attention's queries. For this
///     kernel, pairAttentionGradients() adds the description later.
std::unique_ptr<program::AttentionT>
describeAttention(rank::LaunchOp launch, rank::KernelOp kernel,
                  InstructionWriter &writer);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_INSTRUCTIONS_ATTENTION_H
