//===- Resampling.h - interpolation weights of resize ---------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
#define PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// One term (operand index and weight) of the weighted sum that gives a result
/// element of a resize.
struct Tap {
  /// Index, along the resized dim, of the operand element in this term.
  int64_t index;
  /// Interpolation weight of this operand element.
  double weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

/// Returns whether `op`, a resize, changes its operand along dim `dim`: the
/// size of the dim changes, or the scale of the dim is not 1.
bool isResized(ResizeOp op, int64_t dim);

/// Returns the terms (operand index and weight) whose sum is element `i` of the
/// result along `dim`. Mode nearest has one term, linear two, and cubic four.
/// Indices outside the operand are replaced by the nearest valid index, or get
/// weight 0 if `op` has `exclude_outside`.
Taps tapsOf(ResizeOp op, int64_t dim, int64_t i);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
