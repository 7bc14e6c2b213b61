//===- OwnedIndices.h - masks and offsets of indices into a split dim -----===//

#ifndef PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
#define PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H

#include "passes/5-localize/LocalOp.h"

namespace pcc::localize {

/// Global indices into a split dim, as one rank sees them. Example for rank 1
/// of 2, which owns the elements 4 to 7 of 8:
///
///   indices   1    6     -1     (-1 counts from the end: element 7)
///   offset    -3   2     3
///   mine      no   yes   yes
struct OwnedIndices {
  /// Builds the ops that compute the members `mine` and `offset` from the
  /// tensor `indices`. Its elements are global indices into one dim of an
  /// operand of `local`. `factors` lists the loop dims that make up this dim,
  /// outermost first, as indices into `local.splits`. `size` is the size of the
  /// dim without padding, and `owned` is its size on one rank with padding. For
  /// example, 10 elements on 4 ranks have `size` 10 and `owned` 3.
  OwnedIndices(LocalBuilder &builder, const LocalOp &local, mlir::Value indices,
               const graph::ShardingRule::DimFactors &factors, int64_t size,
               int64_t owned);

  /// Builds a tensor with the index, within this rank's shard, of each indexed
  /// element, or `other` if another rank owns the element.
  mlir::Value orElse(LocalBuilder &builder, int64_t other) const;

  /// Integer tensor: each index minus the first index that this rank owns.
  /// Example: rank 1 of 2 owns the elements 4 to 7 of 8. The offset of the
  /// index 6 is 2, so the element is element 2 of the rank's shard. The offset
  /// of the index 1 is -3, so another rank owns the element. A negative index
  /// counts from the end. The index -1 stands for the index 7, so its offset is
  /// 3.
  mlir::Value offset;
  /// Boolean tensor: whether this rank owns the element at each index.
  mlir::Value mine;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
