//===- LowerAttention.h - attention as two matmuls and a softmax ----------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces the attention op `op` by matmuls, a softmax and element-wise ops.
/// These ops compute softmax(scale · query keyᵀ + mask) · value. If `op` has a
/// softcap c, each element x of scale · query keyᵀ becomes c · tanh(x / c). If
/// `op` is causal, a causal mask hides later keys from each query.
///
/// In grouped-query attention (Ainslie et al. 2023), several query heads share
/// one key head. Example: with 8 query heads and 2 key heads, 4 query heads
/// share one key head. A reshape stacks the matrices of these 4 query heads
/// into one matrix, and one matmul multiplies the stacked matrix by the key
/// head:
///
///   query [B, H, S, D]   becomes   [B, K, H / K · S, D]
///
/// B is the batch size, H is the number of query heads, and K is the number of
/// key heads. S is the number of queries of one head, and D is the number of
/// elements of one query.
void lowerAttention(graph::AttentionOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
