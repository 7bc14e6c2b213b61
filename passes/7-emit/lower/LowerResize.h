//===- LowerResize.h - resizes as gathers and weighted sums ---------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op`, a resize (image scaling), by ops that fused kernels can
/// compute. Each resized dim becomes a weighted sum of gathers, one per input
/// element that contributes to a result element:
///
///   nearest   gather
///   linear    w0 · gather + w1 · gather
///   cubic     w0 · gather + ... + w3 · gather
///
/// Indices and weights are constants. Does not replace an `op` whose result has
/// no elements.
void lowerResize(graph::ResizeOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
