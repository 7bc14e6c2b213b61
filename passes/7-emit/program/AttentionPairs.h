//===- AttentionPairs.h - pairs of attention gradients for cuDNN ----------===//
//
// A program computes the gradients of one attention in two kernels: the first
// computes dq, the gradient of the queries, the second dk and dv, those of keys
// and values. cuDNN computes all three in one call. A device with cuDNN
// therefore skips the first kernel and calls cuDNN in place of the second:
//
//   kernel                     without cuDNN   with cuDNN
//   attention_query_gradient   dq              skipped
//   attention_key_gradient     dk, dv          dq, dk, dv
//
// Both kernels carry a description (program::AttentionT) that allows this. It
// is correct only if no instruction between the two touches dq.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H
#define PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H

#include "runtime/program/Program_generated.h"

#include <memory>
#include <vector>

namespace pcc::emit {

/// Decides for each attention whether cuDNN may compute the gradients of the
/// attention. The gradients are dq of the queries, dk of the keys, and dv of
/// the values. Without cuDNN, two kernels compute the gradients. With cuDNN,
/// one call of cuDNN replaces the second kernel, and the first kernel is
/// skipped:
///
///   kernel   computes without cuDNN   computes with cuDNN
///   first    dq                       nothing, since the kernel is skipped
///   second   dk, dv                   dq, dk, dv
///
/// `instructions` contains one instruction for each kernel. A device with cuDNN
/// can use cuDNN for the two kernels if both instructions contain a description
/// of the attention (program::AttentionT). Before this function runs, only the
/// instruction of the second kernel can contain a description. The function
/// copies the description to the instruction of the first kernel.
///
/// Exception: an instruction between the two kernels reads or writes dq. cuDNN
/// would compute dq only after this instruction, which is too late. The
/// function then removes the description from the instruction of the second
/// kernel, so that both kernels run without cuDNN.
void pairAttentionGradients(
    std::vector<std::unique_ptr<program::InstructionT>> &instructions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H
