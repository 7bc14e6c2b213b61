//===- LocalSearch.h - cheaper assignments by single changes --------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_LOCALSEARCH_H
#define PCC_PASSES_PLAN_SEARCH_LOCALSEARCH_H

#include "passes/plan/search/CostGraph.h"

namespace pcc::plan {

/// Lowers the cost of an assignment, which has one value for each variable of
/// `graph`. Visits the variables one after another. Gives each the value with
/// which the assignment costs least while all other variables keep theirs.
/// Repeats these visits until no value changes, but visits each variable at
/// most 16 times.
void improve(const CostGraph &graph, std::vector<uint32_t> &assignment);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_LOCALSEARCH_H
