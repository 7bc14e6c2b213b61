//===- OwnedIndices.h - which indices fall into what a rank holds ---------===//

#ifndef PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
#define PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H

#include "passes/5-localize/LocalOp.h"

namespace pcc::localize {

/// Global indices of a dim that is split in one run, as a rank sees them.
struct OwnedIndices {
  /// `indices` into the dim of `size` whose factors are `factors`, of which
  /// this rank holds `owned`.
  OwnedIndices(LocalBuilder &builder, const LocalOp &local, mlir::Value indices,
               const graph::ShardingRule::DimFactors &factors, int64_t size,
               int64_t owned);

  /// The offset where it is owned, `other` elsewhere.
  mlir::Value orElse(LocalBuilder &builder, int64_t other) const;

  mlir::Value offset; ///< from the first index that is owned
  mlir::Value mine;   ///< whether the index is owned
};

} // namespace pcc::localize

#endif // PCC_PASSES_5_LOCALIZE_OWNEDINDICES_H
