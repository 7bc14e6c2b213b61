//===- Eliminate.h - the cheapest assignment of a cost graph --------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_ELIMINATE_H
#define PCC_PASSES_PLAN_SEARCH_ELIMINATE_H

#include "passes/plan/search/CostGraph.h"

namespace pcc::plan {

/// A value for every variable of a graph.
struct Assignment {
  std::vector<uint32_t> values;
  Cost cost;
  /// No assignment is cheaper. False only when variables had to be frozen.
  bool exact = true;
  /// Variables that were fixed to their locally best value because every
  /// table would have exceeded the limit.
  std::vector<Variable> frozen;
  /// Entries of the largest table, a measure of the graph's width.
  size_t largestTable = 0;

  /// Whether a choice that is not forbidden exists (was found).
  bool allowed() const { return !cost.isForbidden(); }
};

/// Minimises the graph's cost by variable elimination.
///
/// A variable is replaced by a table over its neighbours that holds, for each
/// choice of theirs, the cheapest value of the variable and its cost:
///
///     a   b             a   b
///      \ /      ==>      \ /       t(a, b) = min over v of
///       v                 t          u(v) + p(a, v) + p(v, b)
///       |
///      (u)
///
/// The variable with the smallest such table goes first, so chains with
/// residuals (transformer blocks) need tables over one to three neighbours and
/// time linear in their length. Where every table would have more than
/// `tableLimit` entries the variable with most neighbours is frozen, and the
/// result improved by changing single variables while that helps.
///
/// Where a solution is known, only one below `bound`, its cost, is looked for:
/// values that cannot be part of one are dropped before. The assignment is not
/// `allowed` if there is none for sure.
///
/// Deterministic: equal costs take the smallest value of the variable that is
/// decided last, given the others, and equal tables the lowest variable.
Assignment minimise(const CostGraph &graph, size_t tableLimit = size_t(1) << 20,
                    const Cost &bound = Cost::forbidden());

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_ELIMINATE_H
