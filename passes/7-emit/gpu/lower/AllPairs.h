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

/// Builds tensors with one element for each pair of indices (each, other) along
/// a dim. Examples:
///
///   sort      compares element `each` with element `other`
///   scatter   checks whether update `other` applies to row `each` of the data
class AllPairs {
public:
  /// Creates new ops with `b`. Pairs (each, other) consist of indices along the
  /// middle dim of tensors [outer, size, inner].
  AllPairs(LoweringBuilder &b, int64_t inner) : b(b), isFlat(inner == 1) {}

  /// Reshapes `value`, [outer, size, inner], so that it broadcasts to all pairs
  /// of indices (each, other) along the middle dim. Pair (i, j) gets element i.
  mlir::Value each(mlir::Value value);
  /// Reshapes `value`, [outer, size, inner], so that it broadcasts to all pairs
  /// of indices (each, other) along the middle dim. Pair (i, j) gets element j.
  mlir::Value other(mlir::Value value);
  /// Returns an i64 tensor that broadcasts to all pairs of indices (each,
  /// other). Pair (i, j) gets the number i. `size` is the number of values of
  /// i.
  mlir::Value eachPosition(int64_t size);
  /// Returns an i64 tensor that broadcasts to all pairs of indices (each,
  /// other). Pair (i, j) gets the number j. `size` is the number of values of
  /// j.
  mlir::Value otherPosition(int64_t size);

  /// Reduces `pairs`, a tensor with one element for each pair of indices (each,
  /// other), to one element for each index `each`. Returns them as [outer,
  /// size, inner].
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value pairs);

private:
  LoweringBuilder &b;
  /// Whether `inner` is 1. A tensor with one element per pair of indices (each,
  /// other) then has the shape [outer, each, other], else [outer, other, each,
  /// inner].
  bool isFlat;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H
