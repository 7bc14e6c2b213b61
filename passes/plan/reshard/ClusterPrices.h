//===- ClusterPrices.h - prices of communication over mesh axes -----------===//

#ifndef PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
#define PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H

#include "passes/plan/reshard/Reshard.h"

namespace pcc::plan {

/// Returns the ranks of `mesh` that differ only in their coordinates along
/// `axes`. Their numbers do not depend on microbatches.
RankGroup groupOf(const dist::SubAxes &axes, const dist::Mesh &mesh);

/// Returns the prices of communication over the axes of `mesh`. `clusterText`,
/// the text of a cluster file, must be valid or empty. If the text is empty,
/// prices are received bytes. Otherwise, prices are seconds. Fields that the
/// file lacks have the values of the built-in cluster of `target` ("cpu" or
/// "cuda").
Prices pricesOf(std::string_view clusterText, std::string_view target,
                const dist::Mesh &mesh);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_RESHARD_CLUSTERPRICES_H
