//===- Padding.h - source indices of padded dims --------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_PADDING_H
#define PCC_DIALECTS_GRAPH_OPS_PADDING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns the index of the element that a pad op copies to `index` of a padded
/// dim. `size` is the size of the dim before padding. Both indices count from
/// the first unpadded element, so `index` is negative in the low padding and at
/// least `size` in the high padding. Returns -1 if a constant is stored there
/// instead, or if the dim is empty.
///   size 4, index -2:  edge 0, reflect 2, wrap 2, constant -1
int64_t paddedIndex(PadMode mode, int64_t index, int64_t size);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_PADDING_H
