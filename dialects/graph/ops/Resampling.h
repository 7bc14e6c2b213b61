//===- Resampling.h - interpolation weights of resize ---------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
#define PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// One term of the weighted sum that makes an element of a resized dim.
struct Tap {
  /// Index of the operand's element along the dim.
  int64_t index;
  /// Interpolation weight of that element.
  double weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

/// Returns whether `op` resamples `dim`: its size changes, or its scale is not
/// 1.
bool isResized(ResizeOp op, int64_t dim);

/// Returns the terms whose weighted sum is element `i` of the result along
/// `dim`: one in mode nearest, two in mode linear, four in mode cubic. An index
/// outside the operand becomes that of the nearest edge. With `exclude_outside`
/// its weight is 0 instead, and the other weights are scaled to a sum of 1.
Taps tapsOf(ResizeOp op, int64_t dim, int64_t i);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
