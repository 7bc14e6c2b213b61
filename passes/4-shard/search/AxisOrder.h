//===- AxisOrder.h - assignment of all mesh axes, in the cheapest order ---===//

#ifndef PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
#define PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H

#include "passes/4-shard/graph/ShardedGraph.h"
#include "passes/plan/reshard/Reshard.h"

namespace pcc::shard {

/// Decides for each op of `graph` which dims each mesh axis splits. The mesh is
/// the mesh of `planner`. A plan is the result for all axes. There are two
/// kinds of searches, and the function keeps the cheapest plan:
///
/// - The first kind of search decides about one axis after another. If several
///   orders of the axes are possible, the function tries several orders.
/// - The second kind of search decides about all axes at the same time. The
///   function uses it only if the graph is small. In a large graph, there are
///   too many combinations.
///
/// Emits an error and fails in three cases:
///
/// - No plan meets all requests in `seeds`, the requested shardings.
/// - Even the best plan that was found contains a reshard (change of sharding)
///   that is impossible.
/// - The user requests microbatches, and the batch cannot be cut into
///   microbatches.
///
/// `experts` contains the sub-axes (mesh axes, or parts of mesh axes) that
/// divide the experts of a mixture-of-experts model. It is empty if no axis
/// divides experts.
mlir::LogicalResult assignMeshAxes(ShardedGraph &graph, const Seeds &seeds,
                                   const dist::SubAxes &experts,
                                   plan::ReshardPlanner &planner);

} // namespace pcc::shard

#endif // PCC_PASSES_4_SHARD_SEARCH_AXISORDER_H
