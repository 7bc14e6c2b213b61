//===- LowerAttention.h - attention as two matmuls and a softmax ----------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op` by matmuls, a softmax and element-wise ops that compute
/// softmax(scale · query keyᵀ + mask) · value. A softcap c turns each element x
/// of scale · query keyᵀ into c · tanh(x / c). Supports causal masks and
/// grouped-query attention (Ainslie et al. 2023).
void lowerAttention(graph::AttentionOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERATTENTION_H
