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

/// Prepares the instructions of one function for devices with cuDNN. Two
/// kernels compute the gradients of one attention. The first kernel computes
/// dq, the gradient of the queries. The second kernel computes the gradients of
/// keys and values. cuDNN computes all three gradients in one call. Before this
/// function runs, each second kernel has a description (program::AttentionT)
/// for cuDNN, and each first kernel has none.
///
/// cuDNN can replace the two kernels if the first kernel is the last
/// instruction before the second kernel that reads or writes dq. In that case
/// this function copies the description to the first kernel. Otherwise it
/// removes the description from the second kernel, so that the device runs both
/// kernels.
void pairAttentionGradients(
    std::vector<std::unique_ptr<program::InstructionT>> &instructions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H
