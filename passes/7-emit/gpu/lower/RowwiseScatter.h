//===- RowwiseScatter.h - scatter of updates into the rows of a tensor ----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Scatter that applies updates to the rows of a tensor, the data:
///
///   data      [outer, rows, inner]
///   updates   [outer, U, inner]      U updates
///   places    [outer, U, inner] or [outer, U, 1], i64
///
/// Row r of the data consists of all elements with the index r along the dim
/// `rows`. `places` holds the index of the row to which each update applies. In
/// the shape [outer, U, inner], it holds such an index for each element of each
/// update. If an index is not in [0, rows), the update has no effect. `kind`
/// decides how an update changes a row. Example with ScatterKind::Add, outer =
/// 1 and inner = 2:
///
///   places     2        0        2
///   updates    (1, 2)   (3, 4)   (5, 6)
///
/// Row 0 of the data is increased by (3, 4), and row 2 by (6, 8).
struct RowwiseScatter {
  graph::ScatterKind kind;
  mlir::Value data, places, updates;
};

/// Returns the tensor `rows.data` after the updates. If several updates change
/// one element, ScatterKind::Set keeps the last of them. Other kinds combine
/// all of them with the old element. Sums and products of bf16 and f16 are
/// computed in f32.
mlir::Value applyScatter(LoweringBuilder &b, RowwiseScatter rows);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
