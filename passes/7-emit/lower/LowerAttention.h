//===- LowerAttention.h - attention as two matmuls and a softmax ----------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op` by softmax(scale · query keyᵀ + mask) · value, with a softcap
/// and a causal mask if `op` has them.
///
/// In grouped-query attention (Ainslie et al. 2023), query heads share key
/// heads. The rows of the query heads that share one key head are stacked in
/// one matmul. With H query heads and K key heads:
///
///   query [B, H, S, D]   becomes   [B, K, H / K · S, D]
void lowerAttention(graph::AttentionOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
