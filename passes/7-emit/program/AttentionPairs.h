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

/// Lets cuDNN compute the gradients of attention ops where possible. Two
/// kernels compute the gradients of one attention. cuDNN computes them all in
/// place of the second kernel:
///
///   kernel   without cuDNN                      with cuDNN
///   first    dq (gradient of the queries)       skipped
///   second   dk, dv (of the keys and values)    dq, dk, dv
///
/// The second kernel's instruction describes the attention for cuDNN
/// (program::AttentionT). Copies this description to the first kernel's
/// instruction, so that a device with cuDNN skips the first kernel. If an
/// instruction between the two kernels uses dq, removes the description: cuDNN
/// would compute dq too late.
void pairAttentionGradients(
    std::vector<std::unique_ptr<program::InstructionT>> &instructions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H
