//===- Resampling.h - interpolation weights of resize ---------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
#define PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// One term of the weighted sum that gives an element of a resized dim:
/// `weight` times the operand's element `index`.
struct Tap {
  /// Index of the operand's element along the dim.
  int64_t index;
  /// Interpolation weight of that element.
  double weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

/// Returns whether `op`, a resize, changes the elements along dim `dim`: the
/// size of the dim changes, or its scale is not 1.
bool isResized(ResizeOp op, int64_t dim);

/// Returns the operand indices and weights whose weighted sum gives the
/// result's element `i` along `dim`: one in mode nearest, two in mode linear,
/// four in mode cubic. An index outside the operand is replaced by the index of
/// the nearest edge. If `op` has `exclude_outside`, the weight of such an index
/// is 0 instead, and the other weights are scaled so that they sum to 1.
Taps tapsOf(ResizeOp op, int64_t dim, int64_t i);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
