//===- ReshardOrder.h - in which order the forms of a value are made ------===//

#ifndef PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
#define PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H

#include "passes/plan/search/CostGraph.h"

namespace pcc::plan {

/// Forms (shardings) that a value is wanted in, in the order in which they are
/// made, each from the cheapest of those that exist by then.
struct ReshardOrder {
  struct FormStep {
    size_t form;   ///< which of the wanted ones
    size_t source; ///< 0: the value itself; i: the form of step i - 1
  };
  std::vector<FormStep> steps;
  Cost cost;
};

/// The order that costs least in all: a slice of what was gathered is free.
/// reform[from][to] is the price of making wanted form `to` from the value
/// itself (from == 0) or from wanted form from - 1. More than `mostOrdered`
/// forms are made in the order given.
ReshardOrder cheapestReshardOrder(const std::vector<std::vector<Cost>> &reform,
                                  size_t mostOrdered = 5);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_RESHARDORDER_H
