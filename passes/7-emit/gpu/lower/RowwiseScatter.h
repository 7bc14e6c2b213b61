//===- RowwiseScatter.h - scatter of updates into the rows of a tensor ----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Scatter that applies updates to the rows of a tensor, the data:
///
///   data      [outer, rows, inner]
///   updates   [outer, U, inner]
///   places    [outer, U, 1] or [outer, U, inner], i64
///
/// `outer` is the size of a batch dim. An update changes only rows with its own
/// batch index. `places` holds the index of the row that an update changes. In
/// the shape [outer, U, inner], `places` has one row index for each element of
/// an update. If an index is not in [0, rows), the update has no effect. `kind`
/// decides the change. Example for ScatterKind::Add: the updates (1, 2) and
/// (5, 6) have the places 2 and 2. Row 2 is increased by (6, 8).
struct RowwiseScatter {
  graph::ScatterKind kind;
  mlir::Value data, places, updates;
};

/// Returns the tensor `rows.data` after the updates. Several updates can change
/// the same element. For ScatterKind::Set, the element then becomes the value
/// of the update with the largest index. For every other kind, such as
/// ScatterKind::Add, all these updates are combined with the old element. Sums
/// and products of bf16 and f16 are computed in f32.
mlir::Value applyScatter(LoweringBuilder &b, RowwiseScatter rows);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
