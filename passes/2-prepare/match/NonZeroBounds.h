//===- NonZeroBounds.h - bounds on non-zeros along a dim ------------------===//
//
// A gate of a mixture of experts is 0 for all experts but the k that a token is
// routed to. The bound follows from the ops that compute the gate, so that it
// covers the forms in which exporters write top-k routing.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_2_PREPARE_MATCH_NONZEROBOUNDS_H
#define PCC_PASSES_2_PREPARE_MATCH_NONZEROBOUNDS_H

#include "mlir/IR/Value.h"

namespace pcc::prepare {

/// Returns an upper bound on the number of non-zero elements of `value` along
/// dim `dim`. For dim 1 of a matrix, it bounds the non-zeros of each row.
/// Returns the size of the dim if no smaller bound can be proven. Assumes that
/// 0 · x and 0 / x are 0, although they may be NaN.
int64_t maxNonZeros(mlir::Value value, int64_t dim);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_NONZEROBOUNDS_H
