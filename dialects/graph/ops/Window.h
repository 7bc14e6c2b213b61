//===- Window.h - arithmetic of sliding windows ---------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_WINDOW_H
#define PCC_DIALECTS_GRAPH_OPS_WINDOW_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// How many windows fit: floor((input + low + high − (window−1)·dilation − 1) /
/// stride) + 1, never negative.
int64_t windowOutput(int64_t input, int64_t window, int64_t stride, int64_t low,
                     int64_t high, int64_t dilation);

/// How many taps along spatial dim `dim` count where an average pool makes
/// output `output`: those inside the input, or inside the padded input without
/// its overhang. The product over all dims is what a window's sum is divided
/// by.
int64_t countedTaps(PoolOp op, size_t dim, int64_t output);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_WINDOW_H
