//===- AxisOrder.h - assignment of all mesh axes, in the cheapest order ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Assigns all axes of the planner's mesh to the ops of `graph`, one after
/// another in the cheapest order. For a small graph, also tries all at once,
/// and keeps the cheaper plan. Emits an error and fails if a seed (requested
/// sharding) or the role of an axis cannot be fulfilled.
///
/// `experts` contains the sub-axes that divide experts (ExpertAxes.h), if any.
mlir::LogicalResult assignMeshAxes(ShardedGraph &graph, const Seeds &seeds,
                                   const dist::SubAxes &experts,
                                   plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
