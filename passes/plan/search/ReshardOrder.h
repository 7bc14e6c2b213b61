//===- ReshardOrder.h - order of the reshards of one value ----------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
#define PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H

#include "passes/plan/search/CostGraph.h"

namespace pcc::plan {

/// Order in which a value is resharded to the shardings that its users need.
/// Each step makes one sharding, from the cheapest source. The source is the
/// value itself or a sharding that an earlier step has made.
struct ReshardOrder {
  struct FormStep {
    size_t form;   ///< index of the form, among the wanted ones
    size_t source; ///< 0: the value itself; i: the form made by step i - 1
  };
  std::vector<FormStep> steps;
  /// Sum of the costs of all reshards in `steps`.
  Cost cost;
};

/// Returns the cheapest order of reshards that make the wanted shardings of a
/// value. A reshard starts from the value itself (costs in reform[0]) or from a
/// sharding i that is already made (costs in reform[i + 1]; not a source if
/// empty). Tries all orders only for at most `mostOrdered` shardings.
ReshardOrder cheapestReshardOrder(const std::vector<std::vector<Cost>> &reform,
                                  size_t mostOrdered = 5);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
