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

  /// Returns whether the function `minimise` has found an assignment with an
  /// allowed cost. A cost is allowed if its penalty is finite. The function
  /// returns false in two cases:
  ///  - The cost of the found assignment is forbidden. The cost is forbidden
  ///    if, for example, the cost of one of the values is forbidden.
  ///  - `minimise` has found that every assignment costs `bound` or more.
  ///    `bound` is a parameter of `minimise`.
  bool allowed() const { return !cost.isForbidden(); }
};

/// Finds the values of all variables of a cost graph with the least total cost.
/// The algorithm is variable elimination. Two variables are neighbors if the
/// graph has costs for pairs of their values.
///
/// The function eliminates one variable after another. To eliminate variable v,
/// it replaces v and all costs that depend on v with a cost table t. The table
/// has one entry for each combination of values of the neighbors of v. The
/// entry is the sum of the replaced costs for the value of v that makes this
/// sum smallest. In the picture, v has the neighbors a and b. u(v) is the unary
/// cost of a value of v. p(a, v) and p(v, b) are the costs of pairs of values:
///
///     a   b             a   b
///      \ /      ==>      \ /       t(a, b) = min over v of
///       v                 t          u(v) + p(a, v) + p(v, b)
///       |
///      (u)
///
/// After this step, a and b are neighbors. The next variable is always the
/// variable with the smallest table t. The result is deterministic. For a chain
/// of transformer blocks with residuals, the time is linear in the number of
/// blocks.
///
///  - `tableLimit`: largest number of entries of a table t. If all remaining
///    variables have larger tables, the function eliminates none of them.
///    Instead, it fixes the variable with the most neighbors to a good value.
///    `exact` of the result is then false. At the end, local search improves
///    the values.
///  - `bound`: the caller does not need assignments that cost `bound` or more.
///    The function drops a value of a variable if a lower bound shows that
///    every assignment with this value costs `bound` or more. If a variable has
///    no value left, no assignment costs less than `bound`. `allowed` of the
///    result is then false.
Assignment minimise(const CostGraph &graph, size_t tableLimit = size_t(1) << 20,
                    const Cost &bound = Cost::forbidden());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_ELIMINATE_H
