//===- LowerAttention.h - attention as products and a softmax -------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op` by softmax(scale · query keyᵀ + mask) · value. Query heads
/// that share a key head become rows of one product.
void lowerAttention(graph::AttentionOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
