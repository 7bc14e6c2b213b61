//===- ReshardOrder.h - order of the reshards of one value ----------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
#define PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H

#include "passes/plan/search/CostGraph.h"

namespace pcc::plan {

/// Order in which a value is changed to the forms (shardings) that its users
/// need. Each form is made from the cheapest form that is available at that
/// time.
struct ReshardOrder {
  struct FormStep {
    size_t form;   ///< index of the form, among the wanted ones
    size_t source; ///< 0: the value itself; i: the form made by step i - 1
  };
  std::vector<FormStep> steps;
  /// Sum of the costs of all steps.
  Cost cost;
};

/// Returns the cheapest order for making the wanted forms (shardings) of a
/// value. The order matters: if the value is gathered first, another form may
/// be a slice of the result, which is free.
///
/// reform[0][to] is the cost of making wanted form `to` from the value itself.
/// reform[from + 1][to] is the cost of making wanted form `to` from wanted form
/// `from`. All orders are tried if there are at most `mostOrdered` wanted
/// forms; otherwise the forms are made in the order of their numbers.
ReshardOrder cheapestReshardOrder(const std::vector<std::vector<Cost>> &reform,
                                  size_t mostOrdered = 5);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
