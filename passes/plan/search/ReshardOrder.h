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

/// Returns the cheapest order in which to reshard one value to several forms
/// (shardings). The order matters, because a form can be made from the value or
/// from an earlier form. For example, a sharded form is a free slice of a
/// replicated form.
///
///  - reform[0][to]: cost of making form `to` from the value itself.
///  - reform[from + 1][to]: cost of making form `to` from form `from`.
///
/// For up to `mostOrdered` forms, tries all orders. For more forms, keeps the
/// given order.
ReshardOrder cheapestReshardOrder(const std::vector<std::vector<Cost>> &reform,
                                  size_t mostOrdered = 5);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
