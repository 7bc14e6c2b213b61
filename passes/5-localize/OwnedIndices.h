//===- OwnedIndices.h - masks and offsets of indices into a split dim -----===//

#ifndef PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
#define PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H

#include "passes/5-localize/LocalOp.h"

namespace pcc::localize {

/// Global indices into a split dim, as one rank sees them: whether the rank
/// owns the element at each index, and the element's local index. The rank must
/// own one contiguous range of the dim. Example: rank 1 of 2 owns the elements
/// 4 to 7 of 8. Index -1 counts from the end and means 7.
///
///   indices   1    6     -1
///   offset    -3   2     3
///   mine      no   yes   yes
struct OwnedIndices {
  /// Builds `offset` and `mine` with `builder`. `indices` are global indices; a
  /// negative one counts from the end. `size` is the global size of the dim,
  /// `factors` are its factors in the sharding rule of `local`. Each rank holds
  /// `owned` elements of the dim.
  OwnedIndices(LocalBuilder &builder, const LocalOp &local, mlir::Value indices,
               const graph::ShardingRule::DimFactors &factors, int64_t size,
               int64_t owned);

  /// Builds the local index of each element that this rank owns, and `other`
  /// for all other elements.
  mlir::Value orElse(LocalBuilder &builder, int64_t other) const;

  /// Each index minus the first index that this rank owns. If this rank owns
  /// the element, that is its local index.
  mlir::Value offset;
  /// Boolean tensor: whether this rank owns the element at each index.
  mlir::Value mine;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
