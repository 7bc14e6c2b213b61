//===- ClusterPrices.h - a cluster as the reshard planner sees it ---------===//

#ifndef PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
#define PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// What communication along each axis of ranks costs: a group along an axis has
/// members as far apart as the more minor axes are large.
Prices pricesOf(const Cluster &cluster, const dist::Mesh &mesh);

/// The same for a cluster that is given as the text of its file, over the
/// profile of `target`; bytes alone where it is empty.
Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
