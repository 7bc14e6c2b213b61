//===- ReshardOrder.h - order of the reshards of one value ----------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
#define PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H

#include "passes/plan/search/CostGraph.h"

namespace pcc::plan {

/// The order in which the forms (shardings) that users need of one value are
/// made. Each form is made from the cheapest form that exists by then.
struct ReshardOrder {
  struct FormStep {
    size_t form;   ///< index of the form, among the wanted ones
    size_t source; ///< 0: the value itself; i: the form made by step i - 1
  };
  std::vector<FormStep> steps;
  /// Cost, summed over the steps.
  Cost cost;
};

/// Returns the order with the least total cost. The order matters: if the value
/// is gathered first, another form may be a slice of the result, which is free.
///
/// reform[0][to] is the cost of making wanted form `to` from the value itself,
/// and reform[from + 1][to] that of making it from wanted form `from`. All
/// orders are tried if there are at most `mostOrdered` forms; more forms are
/// made in the given order.
ReshardOrder cheapestReshardOrder(const std::vector<std::vector<Cost>> &reform,
                                  size_t mostOrdered = 5);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
