//===- AttentionPairs.h - gradients that cuDNN makes at once --------------===//
//
// cuDNN makes the three gradients of attention at once, of which a program has
// the query's first:
//
//   attention_query_gradient   left out
//   attention_key_gradient     dq, dk and dv
//
// This is right if nothing touches dq between the two.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H
#define PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H

#include "runtime/program/Program_generated.h"

#include <memory>
#include <vector>

namespace pcc::emit {

/// Gives each gradient of queries the description that the one of its keys has.
/// Where one cannot wait for the other, neither has one.
void pairAttentionGradients(
    std::vector<std::unique_ptr<program::InstructionT>> &instructions);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_PROGRAM_ATTENTIONPAIRS_H
