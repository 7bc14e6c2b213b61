//===- LowerAttention.h - attention as two matmuls and a softmax ----------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces the attention op `op` by matmuls, a softmax and element-wise ops.
/// These ops compute softmax(scale · query keyᵀ + mask) · value. If `op` has a
/// softcap c, each element x of scale · query keyᵀ becomes c · tanh(x / c). If
/// `op` is causal, a causal mask hides later keys from each query. In
/// grouped-query attention (Ainslie et al. 2023), several query heads share one
/// key head. One matmul multiplies the stacked rows of these query heads by the
/// key head.
void lowerAttention(graph::AttentionOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
