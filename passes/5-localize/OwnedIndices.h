//===- OwnedIndices.h - masks and offsets of indices into a split dim -----===//

#ifndef PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
#define PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H

#include "passes/5-localize/LocalOp.h"

namespace pcc::localize {

/// Global indices into a dim that ranks split, from the view of one rank.
/// `mine` tells whether the rank owns the element at an index. `offset` is the
/// index minus the first index that the rank owns. Example: rank 1 of 2 owns
/// the elements 4 to 7 of 8.
///
///   indices   1    6     -1     (-1 counts from the end: element 7)
///   offset    -3   2     3
///   mine      no   yes   yes
struct OwnedIndices {
  /// Computes `mine` and `offset` for `indices`, which are global indices into
  /// one dim of an operand of the op `local`. `factors` has the loop indices
  /// that form the dim, outermost first; they are indices into `local.splits`.
  /// `size` is the number of elements on all ranks together, and `owned` the
  /// number on each rank, padding included. For 8 elements on 2 ranks, `size`
  /// is 8 and `owned` is 4.
  OwnedIndices(LocalBuilder &builder, const LocalOp &local, mlir::Value indices,
               const graph::ShardingRule::DimFactors &factors, int64_t size,
               int64_t owned);

  /// Builds a tensor of local indices. It has one element for each global index
  /// that the constructor got. If this rank owns the element at the global
  /// index, the local index is the position of the element in the rank's shard.
  /// Otherwise the local index is `other`. Example: rank 1 of 2 owns the
  /// elements 4 to 7 of 8, and `other` is 0.
  ///
  ///   global index   1   6   7
  ///   local index    0   2   3
  ///
  /// `builder` creates the new op.
  mlir::Value orElse(LocalBuilder &builder, int64_t other) const;

  /// Integer tensor: each index minus the first index that this rank owns.
  /// Example: rank 1 of 2 owns the elements 4 to 7 of 8. The offset of the
  /// index 6 is 2, so the element is element 2 of the rank's shard. The offset
  /// of the index 1 is -3, so another rank owns the element. A negative index
  /// counts from the end. The index -1 stands for the index 7, so its offset is
  /// 3.
  mlir::Value offset;
  /// Boolean tensor with one element for each index. An index is the global
  /// number of an element along a dim that ranks split. A negative index counts
  /// from the end. An element of the tensor is true if this rank owns the
  /// element at the index. A rank owns the elements of its own shard. Example:
  /// rank 1 of 2 owns the elements 4 to 7 of 8.
  ///
  ///   index    1       6      -1
  ///   `mine`   false   true   true
  mlir::Value mine;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
