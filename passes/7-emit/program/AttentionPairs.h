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

/// Decides for each attention whether one cuDNN call may replace the two
/// kernels that compute the gradients. `instructions` are the instructions of
/// one function. cuDNN may be used if the instructions of both kernels contain
/// a description of the attention (program::AttentionT). Before the call, only
/// the second instruction can contain it. The function copies the description
/// to the first instruction. Exception: an instruction between the two kernels
/// reads or writes dq, the gradient of the queries. cuDNN would compute dq too
/// late for this instruction, so the function removes the description.
void pairAttentionGradients(
    std::vector<std::unique_ptr<program::InstructionT>> &instructions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H
