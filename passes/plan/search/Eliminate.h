//===- Eliminate.h - variable elimination over a cost graph ---------------===//
//
// Finds the cheapest assignment of a cost graph exactly, by variable
// elimination (bucket elimination, Dechter 1999).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_ELIMINATE_H
#define PCC_PASSES_PLAN_SEARCH_ELIMINATE_H

#include "passes/plan/search/CostGraph.h"

namespace pcc::plan {

/// One value for every variable of a cost graph, and the total cost.
struct Assignment {
  /// The value of each variable. Empty if no assignment costs less than the
  /// bound that was passed to `minimise`.
  std::vector<uint32_t> values;
  Cost cost;
  /// Whether the function `minimise` has proven that no other assignment costs
  /// less. False if `frozen` is not empty: `minimise` has then only estimated
  /// which values of some variables are good, and a cheaper assignment may
  /// exist.
  bool exact = true;
  /// Variables that the function `minimise` has not eliminated. To eliminate
  /// such a variable, `minimise` would have had to make a cost table with more
  /// than `tableLimit` entries. Instead, it has given the variable a value that
  /// an estimate of the costs has selected. Local search can have replaced this
  /// value with a cheaper value.
  std::vector<Variable> frozen;
  /// Number of entries of the largest cost table that the function `minimise`
  /// has made. `minimise` makes one cost table for each variable that it
  /// eliminates. The time and the memory that `minimise` needs grow with this
  /// number.
  size_t largestTable = 0;

  /// Returns whether `minimise` has found an assignment that is not forbidden.
  /// Also returns false if `minimise` has proven that every assignment costs
  /// `bound` (its parameter) or more.
  bool allowed() const { return !cost.isForbidden(); }
};

/// Returns values of all variables of `graph` with the least total cost. Drops
/// values that cannot lead to a cost below `bound`. Eliminates one variable
/// after another, and makes a cost table for each. If the table of each
/// remaining variable would have more than `tableLimit` entries, fixes one
/// variable to an estimated value instead, and sets `exact` to false. The
/// result is deterministic.
Assignment minimise(const CostGraph &graph, size_t tableLimit = size_t(1) << 20,
                    const Cost &bound = Cost::forbidden());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_ELIMINATE_H
