//===- Window.h - arithmetic of sliding windows ---------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_WINDOW_H
#define PCC_DIALECTS_GRAPH_OPS_WINDOW_H

#include <cstdint>

namespace pcc::graph {

/// How many windows fit: floor((input + low + high − (window−1)·dilation − 1) /
/// stride) + 1, never negative.
int64_t windowOutput(int64_t input, int64_t window, int64_t stride, int64_t low,
                     int64_t high, int64_t dilation);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_WINDOW_H
