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
  /// The mask hides no key.
  HideNothing,
  /// The mask may hide keys, but each query sees at least one key.
  KeepOne,
  /// The mask may hide all keys of a query, or the analysis proved nothing.
  Unknown,
};

/// Returns whether `mask` can hide keys, or all keys of one query (a row). The
/// mask is boolean (true keeps a key) or float (added to the scores). There are
/// `rowSize` keys. The last dim of the mask has that size, or size 1.
///
/// The analysis assumes that weights and the results of matmuls, norms and
/// similar ops are finite. It assumes nothing about a mask that is a model
/// input.
RowMasking rowMaskingOf(mlir::Value mask, int64_t rowSize);

/// Returns whether two masks, both applied to the same scores, can hide keys,
/// or all keys of one query. If both are KeepOne (each query sees a key),
/// returns Unknown: each mask may hide the key that the other one keeps.
RowMasking combineMasks(RowMasking a, RowMasking b);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_ROWMASKING_H
