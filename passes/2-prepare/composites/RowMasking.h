//===- RowMasking.h - whether attention masks can hide whole rows ---------===//
//
// The softmax of a row in which every key is hidden is NaN, but
// `graph.attention` gives zeros for such a row. Attention may therefore replace
// a masked softmax only if no row is hidden entirely. The analysis here proves
// that.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_COMPOSITES_ROWMASKING_H
#define PCC_PASSES_2_PREPARE_COMPOSITES_ROWMASKING_H

#include "mlir/IR/Value.h"

namespace pcc::prepare {

/// Whether an attention mask can hide keys or whole rows. A row is the mask's
/// last dim: all keys of one query. An element that is false, -infinity or NaN
/// hides its key.
enum class RowMasking : uint8_t {
  /// No element hides a key.
  HideNothing,
  /// Some keys may be hidden, but every row has a visible key.
  KeepOne,
  /// A row may be hidden entirely, or nothing could be proven.
  Unknown,
};

/// Returns whether `mask` can hide keys or whole rows. The mask is either
/// boolean (true keeps a key) or float (added to the scores). `rowSize` is the
/// number of keys in a row of scores; the mask itself may have size 1 along
/// that dim.
///
/// Weights and results of matmuls, norms and similar ops are assumed to be
/// finite, as are the scores. Model inputs are not: a mask that is an input may
/// hold -infinity.
RowMasking rowMaskingOf(mlir::Value mask, int64_t rowSize);

/// Returns whether two masks that are both applied to the same scores can hide
/// keys or whole rows. Two masks that each keep one key of a row may together
/// hide the row, so KeepOne and KeepOne give Unknown.
RowMasking combineMasks(RowMasking a, RowMasking b);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_ROWMASKING_H
