//===- ExpertAxes.h - sub-axes of dp and cp that divide experts -----------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H
#define PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H

#include "dialects/dist/DistDialect.h"

namespace pcc::shard {

/// Name of the module attribute that holds the number of ranks over which
/// `--ep` divides the experts. The attribute is absent if `--ep` was not given.
inline constexpr llvm::StringLiteral expertsName = "dist.experts";

/// Returns the sub-axes that divide experts over `numParts` ranks: the minor
/// parts of `dp`, then the minor parts of `cp`. Minor parts are chosen so that
/// ranks that exchange tokens are close to each other.
///
///   dp = 4, 2 parts:           dp:(2)2
///   dp = 2, cp = 4, 4 parts:   dp:(1)2, cp:(2)2
///
/// `numParts` must divide dp times cp, which checkOptions verifies. If it does
/// not, the result has fewer than `numParts` parts.
dist::SubAxes expertAxes(const dist::Mesh &mesh, int64_t numParts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H
