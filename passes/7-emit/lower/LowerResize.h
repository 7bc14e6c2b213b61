//===- LowerResize.h - resizes as gathers and weighted sums ---------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op`, a resize (image scaling), by ops that fused kernels can
/// compute, and erases `op`. A tap is an input element that contributes to a
/// result element. Each resized dim becomes a sum of gathers along the dim, one
/// per tap, with constant indices and constant weights:
///
///   nearest   gather
///   linear    w0 · gather + w1 · gather
///   cubic     w0 · gather + ... + w3 · gather
///
/// Does not replace an `op` whose result has no elements.
void lowerResize(graph::ResizeOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
