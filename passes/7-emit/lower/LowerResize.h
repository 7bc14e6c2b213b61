//===- LowerResize.h - resizes as gathers and weighted sums ---------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op` by ops that kernels can hold, and erases `op`. Each resized
/// dim becomes a sum of gathers along the dim, one per tap of the
/// interpolation, with constant indices and constant weights:
///
///   nearest   gather
///   linear    w0 · gather + w1 · gather
///   cubic     w0 · gather + ... + w3 · gather
///
/// Leaves an `op` without elements as it is.
void lowerResize(graph::ResizeOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
