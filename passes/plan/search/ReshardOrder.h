//===- ReshardOrder.h - order of the reshards of one value ----------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
#define PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H

#include "passes/plan/search/CostGraph.h"

namespace pcc::plan {

/// Order in which a value is resharded to the forms that its users need. A form
/// is a sharding of the value. Each step makes one form, from the cheapest
/// source. The source is the value itself or a form that an earlier step has
/// made.
struct ReshardOrder {
  struct FormStep {
    size_t form;   ///< index of the form, among the wanted ones
    size_t source; ///< 0: the value itself; i: the form made by step i - 1
  };
  std::vector<FormStep> steps;
  /// Sum of the costs of all reshards in `steps`.
  Cost cost;
};

/// Returns the cheapest order of the reshards that make several forms
/// (shardings) of a value. Each reshard starts from the value itself or from a
/// form that an earlier reshard has made. For example, a sharded form is a free
/// slice of a replicated form. reform[0][to] is the cost of the reshard from
/// the value itself to form `to`, and reform[i + 1][to] from form i. If
/// reform[i + 1] is empty, no reshard may start from form i. The function tries
/// all orders of at most `mostOrdered` forms. It makes more forms in the order
/// of their numbers.
ReshardOrder cheapestReshardOrder(const std::vector<std::vector<Cost>> &reform,
                                  size_t mostOrdered = 5);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
