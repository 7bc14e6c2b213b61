//===- Padding.h - what padding repeats -----------------------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_PADDING_H
#define PCC_DIALECTS_GRAPH_OPS_PADDING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// The index of a dim of `size` elements that stands at `index`, which may lie
/// outside; -1 where padding is a constant.
int64_t paddedIndex(PadMode mode, int64_t index, int64_t size);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_PADDING_H
