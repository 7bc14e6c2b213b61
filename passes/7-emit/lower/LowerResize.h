//===- LowerResize.h - resizes as gathers and weighted sums ---------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op`, a resize (image scaling), by casts, gathers, multiplications
/// and additions, which pcc can fuse into one kernel. Resizes one dim after the
/// other. Along a dim, each result element is a weighted sum of 1 (nearest
/// mode), 2 (linear) or 4 (cubic) input elements. Linear mode gives w0 · g0 +
/// w1 · g1. g0 gathers the first input element of each sum, and g1 the second.
/// w0 and w1 are constant tensors with one weight per result element. If the
/// result of `op` has no elements, `op` is not replaced.
void lowerResize(graph::ResizeOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
