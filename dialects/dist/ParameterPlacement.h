//===- ParameterPlacement.h - where a step writes a weight ----------------===//

#ifndef PCC_DIALECTS_DIST_PARAMETERPLACEMENT_H
#define PCC_DIALECTS_DIST_PARAMETERPLACEMENT_H

#include "dialects/dist/DistDialect.h"
#include "dialects/dist/ShardingText.h"

namespace pcc::dist {

/// On a graph.set_parameter after 5-localize: the placement that it writes; the
/// whole without it. A position holds a weight once for each placement that its
/// stages read.
inline constexpr llvm::StringLiteral placementName = "dist.placement";

/// What tells placements of one weight of `rank` dims from each other.
inline std::string placementKey(ShardingAttr sharding, int64_t rank) {
  return toString(sharding ? placement(sharding.getSharding())
                           : Sharding::whole(static_cast<size_t>(rank)));
}

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_PARAMETERPLACEMENT_H
