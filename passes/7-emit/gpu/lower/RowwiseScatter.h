//===- RowwiseScatter.h - scatter of updates into the rows of a tensor ----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Scatter that applies `updates` to rows of `data`. A row consists of the
/// elements with one index along the middle dim of `data`:
///
///   data      [outer, rows, inner]
///   updates   [outer, number of updates, inner]
///   places    [outer, number of updates, inner or 1], i64
///
/// `places` holds the index of the row to which each update applies. If this
/// index is not in [0, rows), the update has no effect.
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
