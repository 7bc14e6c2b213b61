//===- RowwiseScatter.h - scatter of updates into the rows of a tensor ----===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Scatter that applies `updates` to rows of `data`. A row is an index of the
/// middle dim:
///
///   data      [outer, rows, inner]
///   updates   [outer, updates, inner]
///   places    [outer, updates, inner] or [outer, updates, 1], i64
///
/// `places` holds, for each update, the index of the row to which it is
/// applied. An update whose place is not in [0, rows) has no effect.
struct RowwiseScatter {
  graph::ScatterKind kind;
  mlir::Value data, places, updates;
};

/// Returns `rows.data` with the updates applied: [outer, rows, inner]. If
/// several updates have the same place, ScatterKind::Set keeps the last update.
/// Other kinds combine all updates with the element of `data`. Sums and
/// products of bf16 and f16 are computed in f32.
mlir::Value applyScatter(LoweringBuilder &b, RowwiseScatter rows);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
