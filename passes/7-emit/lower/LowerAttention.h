//===- LowerAttention.h - attention as two matmuls and a softmax ----------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op` by softmax(scale · query keyᵀ + mask) · value, with softcap
/// and causal mask if `op` has them. Erases `op`.
///
/// With grouped-query attention (Ainslie et al. 2023), the query heads that
/// share a key head become rows of one product, so that no key is copied:
///
///   query [B, H, S, D]   becomes   [B, K, H / K · S, D]   for K key heads
void lowerAttention(graph::AttentionOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
