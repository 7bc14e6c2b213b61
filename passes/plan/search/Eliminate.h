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
  /// Whether this is proven to be the cheapest assignment. False if variables
  /// are `frozen`.
  bool exact = true;
  /// Variables that `minimise` could not eliminate within its limit on the size
  /// of a cost table. It has fixed them to a good value instead.
  std::vector<Variable> frozen;
  /// Number of entries of the largest cost table that `minimise` made by
  /// elimination. It measures the treewidth of the graph.
  size_t largestTable = 0;

  /// Returns whether an assignment was found that is not forbidden.
  bool allowed() const { return !cost.isForbidden(); }
};

/// Finds the values of all variables with the least total cost, by variable
/// elimination. Two variables are neighbors if the graph has costs of pairs of
/// their values. To eliminate a variable v, a cost table t replaces v and all
/// costs that depend on v. The table has one entry for each combination of
/// values of the neighbors of v. The entry is the least cost over all values of
/// v. In the picture, u(v) is the unary cost of v, and p(a, v) is the cost of a
/// pair of values of a and v:
///
///     a   b             a   b
///      \ /      ==>      \ /       t(a, b) = min over v of
///       v                 t          u(v) + p(a, v) + p(v, b)
///       |
///      (u)
///
/// Elimination makes the neighbors of v neighbors of each other. The function
/// always eliminates next the variable for which the table t is smallest. A
/// chain of transformer blocks with residuals takes linear time. The result is
/// deterministic.
///
///  - `tableLimit`: largest number of entries of a table t. If t would be
///    larger for every remaining variable, the function fixes the variable with
///    the most neighbors to a good value. Local search then improves the
///    result, and `exact` of the result is false.
///  - `bound`: the function drops a value of a variable if a lower bound shows
///    that every assignment with this value costs `bound` or more. If a
///    variable has no value left, `allowed` of the result is false: no
///    assignment costs less than `bound`.
Assignment minimise(const CostGraph &graph, size_t tableLimit = size_t(1) << 20,
                    const Cost &bound = Cost::forbidden());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_ELIMINATE_H
