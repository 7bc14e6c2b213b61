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

/// A value for every variable of a graph, with its cost.
struct Assignment {
  /// By variable; empty if it is known that no assignment is below the bound.
  std::vector<uint32_t> values;
  Cost cost;
  /// Whether it is proven that no assignment is cheaper. False only if
  /// variables were frozen.
  bool exact = true;
  /// Variables that were frozen: fixed to a locally best value, because every
  /// table would have exceeded the limit.
  std::vector<Variable> frozen;
  /// Entries of the largest table, a measure of the treewidth of the graph.
  size_t largestTable = 0;

  /// Returns whether an assignment was found that is not forbidden.
  bool allowed() const { return !cost.isForbidden(); }
};

/// Minimises the cost of the graph by variable elimination.
///
/// A variable is replaced by a table over its neighbours. For each choice of
/// the neighbours' values, the table holds the cheapest value of the variable
/// and its cost:
///
///     a   b             a   b
///      \ /      ==>      \ /       t(a, b) = min over v of
///       v                 t          u(v) + p(a, v) + p(v, b)
///       |
///      (u)
///
/// The variable with the smallest such table is eliminated first. Chains with
/// residuals (transformer blocks) then need only tables over one to three
/// neighbours, and time linear in their length.
///
/// If every possible table has more than `tableLimit` entries, the variable
/// with the most neighbours is frozen, and the final assignment is improved by
/// changing single variables. The result is then not `exact`.
///
/// With a `bound` other than forbidden, usually the cost of a known assignment,
/// only assignments with a lower cost matter: values that cannot be part of one
/// are dropped before the elimination. If a variable has no value left, no such
/// assignment exists, and the result is not `allowed`.
///
/// The result is deterministic. Among assignments of equal cost, each variable
/// takes its smallest value given the variables that are eliminated after it.
/// Among tables of equal size, the variable with the lowest number goes first.
Assignment minimise(const CostGraph &graph, size_t tableLimit = size_t(1) << 20,
                    const Cost &bound = Cost::forbidden());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_ELIMINATE_H
