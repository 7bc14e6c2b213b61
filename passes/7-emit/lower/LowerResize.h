//===- LowerResize.h - resizes as gathers and weighted sums ---------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op`, a resize (image scaling), by casts, gathers, multiplications
/// and additions. pcc can fuse these ops into one kernel. The function resizes
/// one dim after the other. Along a dim, each result element is a weighted sum
/// of a few input elements. The mode of the resize gives the number of these
/// input elements:
///
///   nearest   g0
///   linear    w0 · g0 + w1 · g1
///   cubic     w0 · g0 + w1 · g1 + w2 · g2 + w3 · g3
///
/// Each of g0 to g3 is a gather op. Element i of g0 is the first input element
/// in the sum for result element i, element i of g1 is the second one, and so
/// on. Each of w0 to w3 is a constant tensor with one weight per result
/// element. The indices of the gathers are also constants.
///
/// If the result of `op` has no elements, the function does not replace `op`.
void lowerResize(graph::ResizeOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
