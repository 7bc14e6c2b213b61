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
/// one dim. The two indices may belong to different tensors, e.g. `each` to the
/// rows and `other` to the updates of a scatter.
class AllPairs {
public:
  /// Creates new ops with `b`. `inner` is the product of the sizes of the dims
  /// that follow the dim of which pairs of indices are formed.
  AllPairs(LoweringBuilder &b, int64_t inner) : b(b), isFlat(inner == 1) {}

  /// Returns `value`, [outer, size, inner], reshaped so that it broadcasts to
  /// all pairs (each, other): every pair gets the element at index `each`. Dims
  /// of size 1 stay broadcastable.
  mlir::Value each(mlir::Value value);
  /// Returns `value`, [outer, size, inner], reshaped so that it broadcasts to
  /// all pairs (each, other): every pair gets the element at index `other`.
  /// Dims of size 1 stay broadcastable.
  mlir::Value other(mlir::Value value);
  /// Returns an i64 tensor that broadcasts to all pairs (each, other): every
  /// pair gets its index `each`, in [0, size).
  mlir::Value eachPosition(int64_t size);
  /// Returns an i64 tensor that broadcasts to all pairs (each, other): every
  /// pair gets its index `other`, in [0, size).
  mlir::Value otherPosition(int64_t size);

  /// Reduces `pairs`, a tensor with one element per pair (each, other), over
  /// all indices `other`. The result has the shape [outer, each, inner], where
  /// `each` is the number of indices `each`.
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value pairs);

private:
  LoweringBuilder &b;
  /// Whether `inner`, the number of elements per index, is 1. If so, tensors of
  /// pairs have the dim `other` after the dim `each`, otherwise before it.
  bool isFlat;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H
