//===- AxisOrder.h - assignment of all mesh axes, in the cheapest order ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Decides which dims of each op of `graph` the mesh axes split, and keeps the
/// cheapest plan found. `experts` has the sub-axes that divide experts, if any.
/// Emits an error and fails if no plan has the shardings in `seeds`, which the
/// user set, or if a reshard or the cut into microbatches is impossible.
mlir::LogicalResult assignMeshAxes(ShardedGraph &graph, const Seeds &seeds,
                                   const dist::SubAxes &experts,
                                   plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
