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

/// Returns an upper bound on the number of non-zero elements in each line of
/// `value` along dim `dim`. For example, the lines of a matrix along dim 1 are
/// its rows. If no smaller bound can be proven, returns the size of dim `dim`.
/// Example: if each row of a and of b is one-hot, 2 · a + 3 · b has the bound 2
/// along dim 1.
///
/// Assumes that 0 · x and 0 / x are 0 for each x, although 0 · infinity and
/// 0 / 0 are NaN. If the user fixes the sharding of a value (--shard), assumes
/// that all its elements can be non-zero.
int64_t maxNonZeros(mlir::Value value, int64_t dim);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_NONZEROBOUNDS_H
