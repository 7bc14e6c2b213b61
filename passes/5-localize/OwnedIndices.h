//===- OwnedIndices.h - masks and offsets of indices into a split dim -----===//

#ifndef PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
#define PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H

#include "passes/5-localize/LocalOp.h"

namespace pcc::localize {

/// Computed indices into a dim that is split, as seen by one rank: whether the
/// rank owns the element, and its local index. The rank must own one contiguous
/// range of the dim.
///
///   rank 1 of 2 owns 4 … 7 of 8;  indices 1 6 -1  ->  offset -3 2 3
///                                                     mine   no yes yes
struct OwnedIndices {
  /// Builds `offset` and `mine` with `builder`. `indices` are global; negative
  /// ones count from the end. The dim has the global size `size` and the
  /// factors `factors` of the rule of `local`. Each rank holds `owned` elements
  /// of it.
  OwnedIndices(LocalBuilder &builder, const LocalOp &local, mlir::Value indices,
               const graph::ShardingRule::DimFactors &factors, int64_t size,
               int64_t owned);

  /// Returns the local index of each element that this rank owns, and `other`
  /// for all other elements.
  mlir::Value orElse(LocalBuilder &builder, int64_t other) const;

  /// Distance of each index from the first index that this rank owns. For an
  /// index that the rank owns, this is the local index.
  mlir::Value offset;
  /// Whether this rank owns each index, as a tensor of booleans.
  mlir::Value mine;
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
