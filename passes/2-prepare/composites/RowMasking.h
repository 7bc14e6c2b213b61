//===- RowMasking.h - can a mask hide whole rows? -------------------------===//

#ifndef PCC_PASSES_2_PREPARE_COMPOSITES_ROWMASKING_H
#define PCC_PASSES_2_PREPARE_COMPOSITES_ROWMASKING_H

#include "mlir/IR/Value.h"

namespace pcc::prepare {

/// What is known about the rows (along the last dim) of a mask.
enum class RowMasking : uint8_t {
  HideNothing, ///< no element is −∞, or false
  KeepOne,     ///< in each row some element is neither
  Unknown,
};

/// What the additive float mask, or the mask of booleans that keep, does to
/// rows of `rowSize` elements. Weights and what a matmul or a norm computes are
/// taken to be finite, as the scores are that the mask is added to; inputs are
/// not.
RowMasking rowMaskingOf(mlir::Value mask, int64_t rowSize);

/// Two masks, one after the other.
RowMasking combineMasks(RowMasking a, RowMasking b);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_COMPOSITES_ROWMASKING_H
