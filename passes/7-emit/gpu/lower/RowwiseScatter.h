//===- RowwiseScatter.h - what the rows of a scatter come to --------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Updates of rows: `data` is [outer, rows, inner], `updates` [outer, updates,
/// inner], `places`, the row of each update, likewise or with 1 for inner.
/// Places outside of the rows are of no row.
struct RowwiseScatter {
  graph::ScatterKind kind;
  mlir::Value data, places, updates;
};

/// The data with the updates, [outer, rows, inner]. Of updates that replace
/// the same element the last one stays.
mlir::Value applyScatter(LoweringBuilder &b, RowwiseScatter rows);

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ROWWISESCATTER_H
