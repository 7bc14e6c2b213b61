//===- ParameterPlacement.h - placements under which a weight is kept -----===//
//
// The ranks of a pipeline position (the stages that one rank runs) may store a
// weight in several shardings, if their stages read it differently. The text of
// placementKey() identifies each copy.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_DIALECTS_DIST_PARAMETERPLACEMENT_H
#define PCC_DIALECTS_DIST_PARAMETERPLACEMENT_H

#include "dialects/dist/DistDialect.h"
#include "sharding/ShardingText.h"

namespace pcc::dist {

/// Returns a text that identifies which shard of a weight each rank stores
/// under `sharding`. If the texts for two pipeline stages of a rank are equal,
/// the stages can share one shard in memory. A null `sharding` means
/// replicated. `rank` is the number of dims of the weight.
inline std::string placementKey(ShardingAttr sharding, int64_t rank) {
  return toString(sharding ? placement(sharding.getSharding())
                           : Sharding::whole(static_cast<size_t>(rank)));
}

} // namespace pcc::dist

#endif // PCC_DIALECTS_DIST_PARAMETERPLACEMENT_H
