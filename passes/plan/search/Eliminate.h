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

/// One value for every variable of a cost graph, and the total cost of these
/// values.
struct Assignment {
  /// For each variable: its value. Empty if no assignment costs less than the
  /// bound that was given to `minimise`.
  std::vector<uint32_t> values;
  Cost cost;
  /// Whether it is proven that no assignment is cheaper. False only if
  /// variables were frozen (fixed to one value before they could be
  /// eliminated).
  bool exact = true;
  /// Variables that were fixed to a locally best value before they could be
  /// eliminated. This happens if the table of every remaining variable would be
  /// larger than the limit.
  std::vector<Variable> frozen;
  /// Number of entries of the largest table that was made; a measure of the
  /// treewidth of the graph.
  size_t largestTable = 0;

  /// Returns whether an assignment was found that is not forbidden.
  bool allowed() const { return !cost.isForbidden(); }
};

/// Finds the values of all variables with the least cost, by variable
/// elimination.
///
/// Eliminating a variable v replaces it and its costs by a table over its
/// neighbours (the variables that share a pair with v). For each combination of
/// values of the neighbours, the table holds the least cost over the values of
/// v:
///
///     a   b             a   b
///      \ /      ==>      \ /       t(a, b) = min over v of
///       v                 t          u(v) + p(a, v) + p(v, b)
///       |
///      (u)
///
/// The variable with the smallest such table is eliminated first. A chain with
/// residuals, such as transformer blocks, then needs only tables over one to
/// three neighbours, and the time is linear in its length.
///
/// If every possible table has more than `tableLimit` entries, the variable
/// with the most neighbours is frozen, that is, fixed to a locally best value.
/// At the end, the assignment is improved by changing single variables. The
/// result is then not `exact`.
///
/// `bound` is usually the cost of a known assignment; only cheaper assignments
/// are of interest. Values that cannot be part of a cheaper one are dropped
/// before the elimination. If a variable has no value left, the result is not
/// `allowed`. The default bound drops nothing.
///
/// The result is deterministic. Among assignments of equal cost, each variable
/// takes its smallest value, given the values of the variables that are
/// eliminated after it. Among tables of equal size, the variable with the
/// lowest number is eliminated first.
Assignment minimise(const CostGraph &graph, size_t tableLimit = size_t(1) << 20,
                    const Cost &bound = Cost::forbidden());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_ELIMINATE_H
