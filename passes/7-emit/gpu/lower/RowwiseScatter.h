//===- RowwiseScatter.h - scatter of updates into the rows of a tensor ----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Scatter of the updates [outer, U, inner] to rows of the data
/// [outer, rows, inner]. `outer` is a batch dim. `places` (i64) holds one row
/// index per update, [outer, U, 1], or one per update element,
/// [outer, U, inner]. An index outside of [0, rows) has no effect.
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
