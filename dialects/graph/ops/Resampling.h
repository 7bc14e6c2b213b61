//===- Resampling.h - what an element of a resized dim is made of ---------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
#define PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// An element of the operand and how much it counts.
struct Tap {
  int64_t index;
  double weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

/// Whether the result is sampled along `dim` at other places than the operand.
bool isResized(ResizeOp op, int64_t dim);

/// What element `i` along `dim` is the weighted sum of: one element if the mode
/// is nearest, two if linear, four if cubic. Edges repeat, or with
/// `exclude_outside` weigh nothing.
Taps tapsOf(ResizeOp op, int64_t dim, int64_t i);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
