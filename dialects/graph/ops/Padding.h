//===- Padding.h - source indices of padded dims --------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_PADDING_H
#define PCC_DIALECTS_GRAPH_OPS_PADDING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns the index of the operand element that a pad op copies to position
/// `index` of the result, along one padded dim. Position 0 is the position of
/// the first operand element in the result. A position in the padding before
/// this element is negative. `size` is the size of the dim in the operand. If
/// `index` is outside the operand, and `mode` is constant or `size` is 0, no
/// operand element is copied, and the function returns -1.
///
///   size 4, index -2:  edge 0, reflect 2, wrap 2, constant -1
int64_t paddedIndex(PadMode mode, int64_t index, int64_t size);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_PADDING_H
