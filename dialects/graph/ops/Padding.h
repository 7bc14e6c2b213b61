//===- Padding.h - source indices of padded dims --------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_PADDING_H
#define PCC_DIALECTS_GRAPH_OPS_PADDING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns the element of a dim of `size` elements that a padded dim has at
/// `index`. Indices count from the first unpadded element, so `index` is
/// negative in the low padding and at least `size` in the high padding. Returns
/// -1 if the padding is a constant, or if the dim is empty.
///   size 4, index -2:  edge 0, reflect 2, wrap 2, constant -1
int64_t paddedIndex(PadMode mode, int64_t index, int64_t size);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_PADDING_H
