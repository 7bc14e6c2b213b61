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

/// Builds tensors with one element for each pair of two indices, i and j, and
/// reduces these tensors over j. Names of functions call index i `each` and
/// index j `other`. Example: the rank of element i of a vector is the number of
/// smaller elements. A tensor of pairs holds 1 for the pair (i, j) if element j
/// is smaller than element i, else 0. The ranks are the sums over all j. For
/// the vector 8 7 9:
///
///             j = 0   j = 1   j = 2    rank
///   i = 0         0       1       0       1
///   i = 1         0       0       0       0
///   i = 2         1       1       0       2
class AllPairs {
public:
  /// Creates a builder of tensors with one element for each pair of indices (i,
  /// j). These tensors are built from inputs of shape [outer, size, inner].
  /// Both i and j are indices along the dim `size`. The parameter `inner` is
  /// the size of the last dim of the inputs. `b` creates all ops.
  AllPairs(LoweringBuilder &b, int64_t inner) : b(b), isFlat(inner == 1) {}

  /// Reshapes `value` so that a later broadcast gives element i of `value` to
  /// each pair of indices (i, j). I and J are the numbers of values of i and j.
  /// `value` has the shape [outer, I, K]. K is 1 or `inner`, the constructor's
  /// parameter:
  ///
  ///                result              after the broadcast
  ///   inner = 1    [outer, I, 1]       [outer, I, J]
  ///   inner > 1    [outer, 1, I, K]    [outer, J, I, K]
  mlir::Value each(mlir::Value value);
  /// Reshapes `value` so that a later broadcast gives element j of `value` to
  /// each pair of indices (i, j). I and J are the numbers of values of i and j.
  /// `value` has the shape [outer, J, K]. K is 1 or `inner`, the constructor's
  /// parameter:
  ///
  ///                result              after the broadcast
  ///   inner = 1    [outer, 1, J]       [outer, I, J]
  ///   inner > 1    [outer, J, 1, K]    [outer, J, I, K]
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

  /// Reduces `pairs`, a tensor with one element for each pair of indices
  /// (i, j). For each i, the reduction `kind` combines the elements of all
  /// pairs (i, j) into one element of the result. I and J are the numbers of
  /// values of i and j. `inner` is the constructor's parameter:
  ///
  ///                `pairs`                result
  ///   inner = 1    [outer, I, J]          [outer, I, 1]
  ///   inner > 1    [outer, J, I, inner]   [outer, I, inner]
  mlir::Value reduce(graph::ReduceKind kind, mlir::Value pairs);

private:
  LoweringBuilder &b;
  /// Whether the dim for index j is the last dim of a tensor of pairs. A tensor
  /// of pairs has one element for each pair of two indices (i, j). I is the
  /// number of values of i. J is the number of values of j. A tensor of pairs
  /// has the shape
  ///
  ///   [outer, I, J]           if true
  ///   [outer, J, I, inner]    if false
  ///
  /// `inner` is the parameter of the constructor. The field is true if `inner`
  /// is 1.
  bool isFlat;
};

} // namespace pcc::emit

#endif // PCC_PASSES_7_EMIT_GPU_LOWER_ALLPAIRS_H
