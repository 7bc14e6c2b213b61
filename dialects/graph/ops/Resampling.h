//===- Resampling.h - interpolation weights of resize ---------------------===//

#ifndef PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
#define PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H

#include "dialects/graph/GraphDialect.h"

namespace pcc::graph {

/// One term (operand index and weight) of the weighted sum that gives a result
/// element of a resize.
struct Tap {
  /// Index of an operand element along the dim that is resized.
  int64_t index;
  /// Number by which the operand element at `index` is multiplied.
  double weight;
};
using Taps = llvm::SmallVector<Tap, 4>;

/// Returns whether the resize `op` resamples its operand along dim `dim`:
/// the size of the dim changes, or the scale of the dim is not 1. A scale other
/// than 1 can leave the size unchanged, because the size is rounded down. For
/// example, size 3 and scale 1.2 give 3.6, which is rounded down to size 3.
bool isResized(ResizeOp op, int64_t dim);

/// Returns the indices and weights of the operand elements whose weighted sum
/// is element `i` of the result along `dim`. An index outside the operand is
/// replaced by the nearest valid index. With the attribute `exclude_outside`,
/// such an index has weight 0, and all other weights are scaled to the sum 1.
Taps tapsOf(ResizeOp op, int64_t dim, int64_t i);

} // namespace pcc::graph

#endif // PCC_DIALECTS_GRAPH_OPS_RESAMPLING_H
