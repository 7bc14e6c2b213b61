//===- Minimise.h - cheapest assignment of a cost graph -------------------===//
//
// Finds the cheapest assignment by variable elimination (Eliminate.h), where
// the tables stay small. Else lower bounds (DualAscent.h) exclude most values
// first, and prove that what is found is the minimum.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_MINIMISE_H
#define PCC_PASSES_PLAN_SEARCH_MINIMISE_H

#include "passes/plan/search/CostGraph.h"

namespace pcc::plan {

/// One value for every variable of a cost graph, and the total cost.
struct Assignment {
  /// The value of each variable. Empty if no assignment costs less than the
  /// bound that was passed to `minimise`.
  std::vector<uint32_t> values;
  Cost cost;
  /// Whether the function `minimise` has proven that no other assignment costs
  /// less. If not, a cheaper assignment may exist.
  bool exact = true;
  /// Number of entries of the largest cost table that the function `minimise`
  /// has made. The time and the memory that `minimise` needs grow with this
  /// number.
  size_t largestTable = 0;

  /// Returns whether `minimise` has found an assignment that is not forbidden.
  /// Also returns false if `minimise` has proven that every assignment costs
  /// `bound` (its parameter) or more.
  bool allowed() const { return !cost.isForbidden(); }
};

/// Returns values of all variables of `graph` with the least total cost. Drops
/// values that cannot lead to a cost below `bound`. Makes no cost table with
/// more than `tableLimit` entries; if the minimum cannot be found without,
/// returns an assignment that is nearly as cheap, and sets `exact` to false.
/// The result is deterministic.
Assignment minimise(const CostGraph &graph, size_t tableLimit = size_t(1) << 20,
                    const Cost &bound = Cost::forbidden());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_MINIMISE_H
