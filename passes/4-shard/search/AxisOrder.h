//===- AxisOrder.h - assignment of all mesh axes, in the cheapest order ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Decides for each op of `graph` which dims each axis of the mesh of `planner`
/// splits, and keeps the cheapest plan found. Searches one axis after another,
/// in several orders, and in a small graph also all axes at the same time.
/// `experts` has the sub-axes (mesh axes or parts of them) that divide the
/// experts of a mixture-of-experts model. It may be empty. Emits an error and
/// fails if no plan meets all requested shardings in `seeds`, if the best plan
/// needs an impossible reshard (change of sharding), or if the batch cannot be
/// cut into the microbatches that the user requests.
mlir::LogicalResult assignMeshAxes(ShardedGraph &graph, const Seeds &seeds,
                                   const dist::SubAxes &experts,
                                   plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
