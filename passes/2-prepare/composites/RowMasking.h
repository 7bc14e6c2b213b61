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

/// Describes how many keys an attention mask can hide from a query. Element
/// [q, k] of the mask belongs to query q and key k. If the element is false,
/// infinite or NaN, then the mask hides key k from query q. The mask may have
/// size 1 in a dim, and is then broadcast.
enum class RowMasking : uint8_t {
  /// The mask hides no key.
  HideNothing,
  /// The mask may hide keys, but each query sees at least one key.
  KeepOne,
  /// The mask may hide all keys of a query, or the analysis proved nothing.
  Unknown,
};

/// Finds out how many keys the attention mask `mask` can hide from a query.
/// `rowSize` is the number of keys. The last dim of the mask has this size or
/// 1. Assumes that weights and the results of some ops, such as matmuls, are
/// finite, but not that model inputs are finite.
RowMasking rowMaskingOf(mlir::Value mask, int64_t rowSize);

/// Returns how many keys two masks of the same scores, described by `a` and
/// `b`, can hide together. Two masks with KeepOne give Unknown, because
/// together they may hide all keys of a query.
RowMasking combineMasks(RowMasking a, RowMasking b);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_ROWMASKING_H
