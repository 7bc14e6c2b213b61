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

/// Reshapes `value` to [outer, size, inner] around dim `dim`: `outer` and
/// `inner` are the products of the dims before and after it.
mlir::Value around(LoweringBuilder &b, mlir::Value value, int64_t dim);

/// Builds all pairs (each, other) of positions along one dim. The positions of
/// `each` and of `other` may belong to different tensors, such as the rows and
/// the updates of a scatter.
class AllPairs {
public:
  /// `inner` is the product of the dims after the dim of the positions.
  AllPairs(LoweringBuilder &b, int64_t inner) : b(b), isFlat(inner == 1) {}

  /// Reshapes `value`, [outer, size, inner], so that it broadcasts along the
  /// dim of `other`: each pair gets the element at its position `each`. Dims of
  /// size 1 stay broadcastable.
  mlir::Value each(mlir::Value value);
  /// Reshapes `value` likewise, so that each pair gets the element at its
  /// position `other`.
  mlir::Value other(mlir::Value value);
  /// Returns the i64 position `each`, 0 to `size` - 1, of every pair.
  mlir::Value eachPosition(int64_t size);
  /// Returns the i64 position `other`, 0 to `size` - 1, of every pair.
  mlir::Value otherPosition(int64_t size);

  /// Reduces a tensor of pairs over `other`. The result is [outer, each,
  /// inner].
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value pairs);

private:
  LoweringBuilder &b;
  /// Whether `inner` is 1, which determines the order of the dims of pairs.
  bool isFlat;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H
