//===- AxisOrder.h - assignment of all mesh axes, in the cheapest order ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Assigns all axes of the planner's mesh to the ops of `graph`: sets how each
/// op is split. The axes are assigned one after another, in the cheapest order.
/// If the graph is small enough, all axes are then assigned at once, and this
/// second plan is used if it is cheaper. `experts` contains the sub-axes that
/// divide experts (ExpertAxes.h); it is empty if `--ep` was not given. Emits an
/// error and fails if a seed (requested sharding) or the role of an axis cannot
/// be fulfilled.
mlir::LogicalResult assignMeshAxes(ShardedGraph &graph, const Seeds &seeds,
                                   const dist::SubAxes &experts,
                                   plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
