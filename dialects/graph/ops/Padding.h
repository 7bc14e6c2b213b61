//===- Padding.h - source indices of padded dims --------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_PADDING_H
#define PCC_DIALECTS_GRAPH_OPS_PADDING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// Returns the index of the operand element that a pad copies to `index` of the
/// result, along a dim with `size` operand elements. `index` counts from the
/// first operand element, so padding in front has negative indices. Returns -1
/// if the pad copies no element.
int64_t paddedIndex(PadMode mode, int64_t index, int64_t size);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_PADDING_H
