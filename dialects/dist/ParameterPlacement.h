//===- ParameterPlacement.h - placements under which a weight is kept -----===//
//
// The ranks of a pipeline position may keep a weight in several shardings, if
// their stages read it differently. Each copy is known by its placement.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_DIST_PARAMETERPLACEMENT_H
#define PCC_DIALECTS_DIST_PARAMETERPLACEMENT_H

#include "dialects/dist/DistDialect.h"
#include "sharding/ShardingText.h"

namespace pcc::dist {

/// Returns a text for the parts of a weight that the ranks hold under
/// `sharding`. Equal texts mean that two copies of one weight can be one copy.
/// A null `sharding` means that each rank holds the weight whole. `rank` is the
/// number of dims of the weight.
inline std::string placementKey(ShardingAttr sharding, int64_t rank) {
  return toString(sharding ? placement(sharding.getSharding())
                           : Sharding::whole(static_cast<size_t>(rank)));
}

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_PARAMETERPLACEMENT_H
