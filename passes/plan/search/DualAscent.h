//===- DualAscent.h - lower bounds of a cost graph by message passing -----===//
//
// Sequential tree-reweighted message passing (TRW-S, Kolmogorov, "Convergent
// Tree-Reweighted Message Passing for Energy Minimization", 2006). It ascends
// the dual of the linear relaxation, which is nearly tight for graphs of
// reshards. The time of one iteration is linear in the size of the graph.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_DUALASCENT_H
#define PCC_PASSES_PLAN_SEARCH_DUALASCENT_H

#include "passes/plan/search/CostScale.h"

namespace pcc::plan {

/// Result of relax(): an assignment of a cost graph, and lower bounds of the
/// costs of all assignments. Bounds are numbers of `scale`.
struct Relaxation {
  /// The value of each variable in the cheapest assignment that was found, and
  /// its cost. The cost is forbidden if none was found.
  std::vector<uint32_t> values;
  Cost cost = Cost::forbidden();
  CostScale scale;
  /// Lower bound of the cost of every assignment.
  double bound = 0;
  /// excess[v][i] is at least 0: if variable v has the value i, the assignment
  /// costs at least bound + excess[v][i].
  std::vector<std::vector<double>> excess;

  /// Returns by how much `cost` exceeds the lower bound; at least 0.
  double gapTo(const Cost &cost) const;
  /// Returns for each variable the values, ascending, with an excess of at most
  /// `gap`. No other values occur in an assignment that costs at most
  /// bound + gap.
  std::vector<std::vector<uint32_t>> valuesWithin(double gap) const;
};

/// Bounds the costs of the assignments of `graph` from below, and rounds the
/// bounds to an assignment. The result is deterministic.
Relaxation relax(const CostGraph &graph);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_DUALASCENT_H
