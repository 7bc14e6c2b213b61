//===- RowwiseScatter.h - scatter of updates into the rows of a tensor ----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Scatter of `updates` along the middle dim of `data`:
///
///   data      [outer, rows, inner]
///   updates   [outer, updates, inner]
///   places    [outer, updates, inner] or [outer, updates, 1], i64
///
/// `places` holds the row of each update. An update whose place is not in
/// [0, rows) has no effect.
struct RowwiseScatter {
  graph::ScatterKind kind;
  mlir::Value data, places, updates;
};

/// Builds `rows.data` with the updates applied: [outer, rows, inner]. For
/// ScatterKind::Set, the last of several updates of one element remains. Sums
/// and products of narrow floats are computed in f32.
mlir::Value applyScatter(LoweringBuilder &b, RowwiseScatter rows);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
