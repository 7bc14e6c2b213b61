//===- Padding.h - source indices of padded dims --------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_PADDING_H
#define PCC_DIALECTS_GRAPH_OPS_PADDING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns the operand index from which a pad op copies the element at `index`
/// of a padded dim. Index 0 is the first element after the leading padding.
/// `size` is the size before padding. Returns -1 for a constant, or if `size`
/// is 0.
///
///   size 4, index -2:  edge 0, reflect 2, wrap 2, constant -1
int64_t paddedIndex(PadMode mode, int64_t index, int64_t size);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_PADDING_H
