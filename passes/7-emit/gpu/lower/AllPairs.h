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

/// Returns `value` reshaped to [outer, size, inner]: `size` is the size of dim
/// `dim`, `outer` the product of the dims before it, and `inner` the product of
/// the dims after it.
mlir::Value around(LoweringBuilder &b, mlir::Value value, int64_t dim);

/// Builds tensors with one element for each pair (each, other) of indices along
/// one dim. The two indices may belong to different tensors, such as the rows
/// and the updates of a scatter.
class AllPairs {
public:
  /// `inner` is the product of the dims that follow the dim of the indices.
  AllPairs(LoweringBuilder &b, int64_t inner) : b(b), isFlat(inner == 1) {}

  /// Reshapes `value`, [outer, size, inner], so that broadcasting gives every
  /// pair (each, other) the element at index `each`. Dims of size 1 stay
  /// broadcastable.
  mlir::Value each(mlir::Value value);
  /// Reshapes `value`, [outer, size, inner], so that broadcasting gives every
  /// pair (each, other) the element at index `other`. Dims of size 1 stay
  /// broadcastable.
  mlir::Value other(mlir::Value value);
  /// Returns a tensor that holds, for every pair (each, other), the index
  /// `each` as an i64 in [0, size).
  mlir::Value eachPosition(int64_t size);
  /// Returns a tensor that holds, for every pair (each, other), the index
  /// `other` as an i64 in [0, size).
  mlir::Value otherPosition(int64_t size);

  /// Reduces `pairs`, a tensor with one element per pair (each, other), over
  /// all indices `other`. The result has the shape [outer, each, inner].
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value pairs);

private:
  LoweringBuilder &b;
  /// Whether `inner` is 1. If so, the dim `other` comes after the dim `each`,
  /// otherwise before it.
  bool isFlat;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H
