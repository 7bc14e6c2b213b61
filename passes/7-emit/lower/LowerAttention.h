//===- LowerAttention.h - attention as two matmuls and a softmax ----------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op` by softmax(scale · query keyᵀ + mask) · value, and erases
/// `op`. Applies a softcap and a causal mask if `op` has them.
///
/// With grouped-query attention (Ainslie et al. 2023), several query heads
/// share one key head. The rows of these query heads are stacked in one matmul,
/// so that no key is copied. With H query heads and K key heads:
///
///   query [B, H, S, D]   becomes   [B, K, H / K · S, D]
void lowerAttention(graph::AttentionOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
