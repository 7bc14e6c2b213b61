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

/// Returns an upper bound on the number of non-zero elements along `dim` of
/// `value`. The bound holds for any indices along the other dims. If nothing is
/// known, the result is the size of the dim.
///
/// A product with 0 and a quotient 0 / x are assumed to be 0, even if the other
/// operand is 0, NaN or infinite at run time. The search stops at values whose
/// sharding the user fixes (pinned values).
///
///   value                                              bound
///   one_hot of depth 8, off value 0                    1 of 8
///   weighted sum of two such one_hots                  2 of 8
///   2 updates scattered into 8 zeros                   2 of 8
int64_t maxNonZeros(mlir::Value value, int64_t dim);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_NONZEROBOUNDS_H
