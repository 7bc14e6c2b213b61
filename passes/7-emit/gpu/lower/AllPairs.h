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
/// one dim. In a sort, both indices number the elements of one tensor. In a
/// scatter, `each` numbers the rows of the data, and `other` the updates.
class AllPairs {
public:
  /// Creates new ops with `b`. All tensors have the shape [outer, size, inner],
  /// in which `size` is the dim that `each` and `other` index. `inner` is the
  /// size of the last dim.
  AllPairs(LoweringBuilder &b, int64_t inner) : b(b), isFlat(inner == 1) {}

  /// Reshapes `value`, [outer, size, inner], so that it broadcasts to all pairs
  /// (each, other). A pair gets the element of `value` at index `each`. A dim
  /// `outer` or `inner` of size 1 broadcasts, too.
  mlir::Value each(mlir::Value value);
  /// Reshapes `value`, [outer, size, inner], so that it broadcasts to all pairs
  /// (each, other). A pair gets the element of `value` at index `other`. A dim
  /// `outer` or `inner` of size 1 broadcasts, too.
  mlir::Value other(mlir::Value value);
  /// Returns an i64 tensor that broadcasts to all pairs (each, other). A pair
  /// gets the number `each`, in [0, size).
  mlir::Value eachPosition(int64_t size);
  /// Returns an i64 tensor that broadcasts to all pairs (each, other). A pair
  /// gets the number `other`, in [0, size).
  mlir::Value otherPosition(int64_t size);

  /// Reduces `pairs`, a tensor with one element per pair (each, other), over
  /// `other`. If `each` has n values, the result has the shape [outer, n,
  /// inner]. Element i of the result combines all pairs (i, j).
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value pairs);

private:
  LoweringBuilder &b;
  /// Whether `inner`, the number of elements per index, is 1. If so, tensors of
  /// pairs have the dim `other` after the dim `each`, otherwise before it.
  bool isFlat;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H
