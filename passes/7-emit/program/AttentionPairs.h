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

/// Decides, for devices with cuDNN, by which calls the gradients of each
/// attention are computed. Without cuDNN, two kernels compute them: the first
/// kernel computes dq, the gradient of the queries; the second kernel computes
/// those of keys and values. cuDNN computes all three in one call, which runs
/// in place of the second kernel.
///
/// Before this function runs, the second kernel has a description
/// (program::AttentionT) for cuDNN, and the first kernel has none. cuDNN would
/// write dq too late for an instruction between the two kernels that uses dq.
/// If there is such an instruction, this function removes the description, so
/// that the device runs both kernels. Otherwise it copies the description to
/// the first kernel, so that cuDNN replaces both.
void pairAttentionGradients(
    std::vector<std::unique_ptr<program::InstructionT>> &instructions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H
