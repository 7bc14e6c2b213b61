//===- AxisOrder.h - assignment of all mesh axes, in the cheapest order ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Decides for each op of `graph` and each mesh axis which dims of the op the
/// axis splits. Stores in `graph` the cheapest sharding that the search finds.
/// `seeds` are the shardings that the user sets. `experts` has the sub-axes
/// that split expert dims, if there are any. Emits an error and fails if no
/// sharding of the graph agrees with `seeds`, if a reshard is impossible, or if
/// the batch cannot be cut into microbatches.
mlir::LogicalResult assignMeshAxes(ShardedGraph &graph, const Seeds &seeds,
                                   const dist::SubAxes &experts,
                                   plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
