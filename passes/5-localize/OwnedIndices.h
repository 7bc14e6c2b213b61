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
  /// Builds `mine` (whether this rank owns the element at an index) and
  /// `offset` (the index minus the first owned one). A negative index counts
  /// from the end. The dim has `size` elements, of which each rank holds
  /// `owned`. `factors` are the dim's factors (loop indices) in the sharding
  /// rule of `local`.
  OwnedIndices(LocalBuilder &builder, const LocalOp &local, mlir::Value indices,
               const graph::ShardingRule::DimFactors &factors, int64_t size,
               int64_t owned);

  /// Builds the local index of each element that this rank owns. For an element
  /// of another rank, builds `other`.
  mlir::Value orElse(LocalBuilder &builder, int64_t other) const;

  /// Each index minus the first index that this rank owns: the local index of
  /// an owned element.
  mlir::Value offset;
  /// Boolean tensor: whether this rank owns the element at each index.
  mlir::Value mine;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
