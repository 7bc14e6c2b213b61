//===- ExpertAxes.h - the sub-axes that divide experts --------------------===//

#ifndef PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H
#define PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H

#include "dialects/dist/DistDialect.h"

namespace pcc::shard {

/// On the module: over how many ranks `--ep` divides the experts; none if it
/// was not asked for.
inline constexpr llvm::StringLiteral expertsName = "dist.experts";

/// The sub-axes of `dp`, then `cp`, that divide experts over `numParts` ranks:
/// the minor parts, so that experts that exchange tokens are neighbours.
///
///   dp = 4, 2 parts:           dp:(2)2
///   dp = 2, cp = 4, 4 parts:   dp:(1)2, cp:(2)2
///
/// `numParts` divides dp times cp (checkOptions), else there are fewer.
dist::SubAxes expertAxes(const dist::Mesh &mesh, int64_t numParts);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_GRAPH_EXPERTAXES_H
