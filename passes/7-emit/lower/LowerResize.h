//===- LowerResize.h - resampling as gathers and sums ---------------------===//

#ifndef PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
#define PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::emit {

/// Replaces `op`, one resized dim after the other, by the sum of what it reads,
/// each gathered at known indices and weighted: all of it fits into kernels.
void lowerResize(graph::ResizeOp op);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_LOWER_LOWERRESIZE_H
