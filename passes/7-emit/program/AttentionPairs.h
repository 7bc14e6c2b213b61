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
/// kernels compute the gradients of one attention: the first kernel computes
/// dq, the gradient of the queries, and the second computes the gradients of
/// keys and values. cuDNN computes all three in one call. Before this function
/// runs, each second kernel has a description (program::AttentionT) for cuDNN,
/// and no first kernel has one.
///
/// cuDNN can replace both kernels if the first kernel is the last instruction
/// before the second kernel that reads or writes dq. The first kernel then gets
/// a copy of the description. Otherwise the second kernel loses its
/// description, so that devices run both kernels.
void pairAttentionGradients(
    std::vector<std::unique_ptr<program::InstructionT>> &instructions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H
