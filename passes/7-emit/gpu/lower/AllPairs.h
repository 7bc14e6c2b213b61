//===- AllPairs.h - reductions over all pairs of positions of a dim -------===//
//
// Sorts, scans and scatters compare each position of a dim with every other
// position. Their results are reductions over all pairs (each, other). Example:
// the rank of an element is the number of pairs in which `other` is smaller.
// Pairs are never stored, because one kernel computes and reduces them.
//
// Tensors have the shape [outer, size, inner] around the dim. A tensor of pairs
// has a dim for `other`, which is reduced, and a dim for `each`, which remains:
//
//   inner > 1    [outer, other, each, inner]    reduces columns
//   inner = 1    [outer, each, other]           reduces rows
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H
#define PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H

#include "passes/7-emit/gpu/lower/LoweringBuilder.h"

namespace pcc::emit {

/// Returns `value` reshaped to three dims around dim `dim`: [2, 3, 4, 5]
/// becomes [6, 4, 5] for `dim` 2.
mlir::Value around(LoweringBuilder &b, mlir::Value value, int64_t dim);

/// Builds tensors with one element for each pair (i, j) of indices along a dim,
/// and reduces them over j. Method names call i `each` and j `other`. Example:
/// the rank of element i is the number of elements j that are smaller.
class AllPairs {
public:
  /// Creates a builder of tensors with one element for each pair of indices (i,
  /// j). These tensors are built from inputs of shape [outer, size, inner].
  /// Both i and j are indices along the dim `size`. The parameter `inner` is
  /// the size of the last dim of the inputs. `b` creates all ops.
  AllPairs(LoweringBuilder &b, int64_t inner) : b(b), isFlat(inner == 1) {}

  /// Reshapes `value` of shape [outer, I, K] for a broadcast of element i to
  /// all pairs of indices (i, j). K is 1 or `inner`, the constructor's
  /// parameter. The result has the shape [outer, I, 1] if `inner` is 1, else
  /// [outer, 1, I, K].
  mlir::Value each(mlir::Value value);
  /// Reshapes `value` of shape [outer, J, K] for a broadcast of element j to
  /// all pairs of indices (i, j). K is 1 or `inner`, the constructor's
  /// parameter. The result has the shape [outer, 1, J] if `inner` is 1, else
  /// [outer, J, 1, K].
  mlir::Value other(mlir::Value value);
  /// Returns an i64 tensor with the numbers 0 to `size` − 1. A later broadcast
  /// gives the number i to each pair of indices (i, j). `size` is the number of
  /// values of i. The shape depends on `inner`, the constructor's parameter:
  ///
  ///   inner = 1    [1, size, 1]
  ///   inner > 1    [1, 1, size, 1]
  mlir::Value eachPosition(int64_t size);
  /// Returns an i64 tensor with the numbers 0 to `size` − 1. A later broadcast
  /// gives the number j to each pair of indices (i, j). `size` is the number of
  /// values of j. The shape depends on `inner`, the constructor's parameter:
  ///
  ///   inner = 1    [1, 1, size]
  ///   inner > 1    [1, size, 1, 1]
  mlir::Value otherPosition(int64_t size);

  /// Reduces `pairs`, which has one element per pair of indices (i, j), over j.
  /// `pairs` has the shape [outer, I, J] if the constructor's `inner` is 1,
  /// else [outer, J, I, inner]. The result has the shape [outer, I, inner].
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value pairs);

private:
  LoweringBuilder &b;
  /// Whether the constructor's parameter `inner` is 1. A tensor of pairs (i, j)
  /// then has the shape [outer, I, J]. Otherwise, it has the shape
  /// [outer, J, I, inner].
  bool isFlat;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H
