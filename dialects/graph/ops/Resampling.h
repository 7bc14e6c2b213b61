//===- Resampling.h - interpolation weights of resize ---------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
#define PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// One term of the weighted sum that gives an element of a resized dim. The
/// term is `weight` times the operand element with index `index`.
struct Tap {
  /// Index, along the resized dim, of the operand element that is multiplied by
  /// the weight.
  int64_t index;
  /// Interpolation weight by which the operand element is multiplied.
  double weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

/// Returns whether `op`, a resize, changes its operand along dim `dim`: the
/// size of the dim changes, or the scale of the dim is not 1.
bool isResized(ResizeOp op, int64_t dim);

/// Returns the terms (operand index and weight) whose sum is element `i` of the
/// result along `dim`. Mode nearest has one term, linear two, and cubic four. A
/// term whose index lies outside the operand uses the nearest valid index. If
/// `op` has `exclude_outside`, such a term instead has weight 0, and the other
/// weights are scaled to sum to 1.
Taps tapsOf(ResizeOp op, int64_t dim, int64_t i);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
