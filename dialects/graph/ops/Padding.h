//===- Padding.h - source indices of padded dims --------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_PADDING_H
#define PCC_DIALECTS_GRAPH_OPS_PADDING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns the operand index whose element a pad op copies to `index` of a
/// padded dim. `size` is the size of the dim before padding. Both indices count
/// from the first element that is not padding. `index` is therefore negative in
/// the leading padding, and at least `size` in the trailing padding. Returns -1
/// if the pad op stores a constant at `index`, or if `size` is 0.
///   size 4, index -2:  edge 0, reflect 2, wrap 2, constant -1
int64_t paddedIndex(PadMode mode, int64_t index, int64_t size);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_PADDING_H
