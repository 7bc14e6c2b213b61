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

/// Returns the cheapest order of reshards that make n shardings of a value.
/// reform[0][j] is the cost of the reshard from the value itself to sharding j.
/// reform[i + 1][j] is the cost of the reshard from sharding i to sharding j.
/// If reform[i + 1] is empty, no reshard may start from sharding i. Tries all
/// n! orders if n is at most `mostOrdered`; otherwise only the order 0, 1, 2
/// and so on.
ReshardOrder cheapestReshardOrder(const std::vector<std::vector<Cost>> &reform,
                                  size_t mostOrdered = 5);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
