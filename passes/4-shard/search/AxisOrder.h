//===- AxisOrder.h - in which order axes are handed out -------------------===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Hands out all axes of the planner's mesh: one after another, in the order
/// that costs least; a graph that is small enough may get a better plan over
/// all axes at once. `experts` are the parts that divide experts, none if that
/// was not asked for. Fails after an error where a seed, or the nature of an
/// axis, cannot be met.
mlir::LogicalResult assignMeshAxes(ShardedGraph &graph, const Seeds &seeds,
                                   const dist::SubAxes &experts,
                                   plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
