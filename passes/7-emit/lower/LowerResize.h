//===- LowerResize.h - resizes as gathers and weighted sums ---------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op`, a resize (image scaling), by casts, gathers, multiplications
/// and additions, which pcc can fuse into one kernel. Along each dim, a result
/// element is a weighted sum of 1 (nearest mode), 2 (linear) or 4 (cubic) input
/// elements. Does not replace `op` if its result has no elements.
void lowerResize(graph::ResizeOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
