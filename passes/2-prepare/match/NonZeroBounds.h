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
/// dim `dim`. The bound holds for each choice of indices along the other dims.
/// In the worst case it is the size of the dim.
///
///   value                                              bound
///   one_hot of depth 8, off value 0                    1 of 8
///   weighted sum of two such one_hots                  2 of 8
///   2 updates scattered into 8 zeros                   2 of 8
///
/// A product with 0 and a quotient 0 / x count as 0, even if the result is NaN.
/// All elements of a pinned value (the user fixes its sharding) count as
/// non-zero.
int64_t maxNonZeros(mlir::Value value, int64_t dim);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_NONZEROBOUNDS_H
