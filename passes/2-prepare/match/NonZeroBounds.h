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

/// Returns an upper bound on the number of non-zero elements in a line of
/// `value` along dim `dim`. A line of a tensor along a dim is a set of elements
/// that have the same indices in all other dims. For example, each row of a
/// matrix is a line along dim 1. The bound holds for all lines along dim `dim`.
/// If the function cannot prove a smaller bound, it returns the size of dim
/// `dim`.
///
/// In these examples, `value` has the shape [5, 8], and `dim` is 1. A line is a
/// row of 8 elements:
///
///   `value`                                                  bound
///   input of the model                                       8
///   one_hot a: each row has at most one 1, the rest is 0     1
///   2 · a + 3 · b, and b is another one_hot of this kind     2
///   zeros, and a scatter writes 2 numbers into each row      2
///
/// The function assumes that 0 · x and 0 / x are 0 for each x. It ignores that
/// 0 · infinity and 0 / 0 are NaN. The user can fix the sharding of a value
/// with the option --shard. The function assumes that all elements of a value
/// with a fixed sharding can differ from 0.
int64_t maxNonZeros(mlir::Value value, int64_t dim);

} // namespace pcc::prepare

#endif // PCC_PASSES_2_PREPARE_MATCH_NONZEROBOUNDS_H
