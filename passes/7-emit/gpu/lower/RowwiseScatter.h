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
/// `outer` is the size of a batch dim. For each batch index, the data has
/// `rows` rows, and there are U updates. An update changes only rows that have
/// the same batch index as the update.
///
/// A row of the data is a vector of `inner` elements. An update is also a
/// vector of `inner` elements. `places` holds the index of the row that an
/// update changes. `kind` decides the change. For ScatterKind::Add, the update
/// is added to the row. If the index is not in [0, rows), the update has no
/// effect. Example with ScatterKind::Add, outer = 1, U = 3 and inner = 2:
///
///   places     2        0        2
///   updates    (1, 2)   (3, 4)   (5, 6)
///
/// Row 0 of the data is increased by (3, 4). Row 2 of the data is increased by
/// (6, 8), the sum of (1, 2) and (5, 6).
///
/// In this example, `places` has the shape [outer, U, 1]: all elements of an
/// update change the same row. In the shape [outer, U, inner], `places` has one
/// row index for each element of an update. The elements of one update can then
/// change different rows. Example: the update (1, 2) with the places (0, 2)
/// adds 1 to the first element of row 0, and 2 to the second element of row 2.
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
