//===- AxisOrder.h - assignment of all mesh axes, in the cheapest order ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Assigns all axes of the planner's mesh to the ops of `graph`. The axes are
/// assigned one after another, in the order that costs least. If the graph is
/// small enough, a plan over all axes at once replaces the result where it is
/// cheaper. `experts` holds the sub-axes that divide experts (ExpertAxes.h);
/// empty if `--ep` was not given. Fails after an error where a seed, or the
/// role of an axis, cannot be met.
mlir::LogicalResult assignMeshAxes(ShardedGraph &graph, const Seeds &seeds,
                                   const dist::SubAxes &experts,
                                   plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
