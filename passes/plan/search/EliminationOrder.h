//===- EliminationOrder.h - which variable to eliminate next --------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_ELIMINATIONORDER_H
#define PCC_PASSES_PLAN_SEARCH_ELIMINATIONORDER_H

#include "passes/plan/search/CostGraph.h"

#include <set>

namespace pcc::plan {

/// The variables of a cost graph that are not eliminated yet, and which of them
/// are neighbors: variables in a common cost table. The elimination of a
/// variable replaces its tables by one with an entry for each combination of
/// values of its neighbors. The variable with the smallest such table is next.
class EliminationOrder {
public:
  /// `sizes` has the number of values of each variable. No variables are
  /// neighbors at first.
  explicit EliminationOrder(std::vector<size_t> sizes);

  /// Makes two variables neighbors.
  void connect(Variable a, Variable b);
  /// Removes `v`, and makes its neighbors neighbors of each other.
  void eliminate(Variable v);
  /// Removes `v`. Its neighbors do not become neighbors of each other.
  void remove(Variable v);

  bool isEmpty() const { return queue.empty(); }
  /// Returns the variable whose elimination makes the smallest table. Of equal
  /// ones, returns that with the smallest number.
  Variable next() const { return queue.begin()->second; }
  /// Returns the variable with the most neighbors.
  Variable busiest() const;
  const std::set<Variable> &neighboursOf(Variable v) const {
    return neighbours[v];
  }
  /// Returns the variables that are left, in ascending order.
  std::vector<Variable> variables() const;
  /// Returns the number of entries of the table that replaces `v`; at most
  /// 1e15.
  double entriesFor(Variable v) const;
  /// Returns how many costs the elimination of all variables computes. Infinity
  /// if a table would have more than `tableLimit` entries.
  double work(size_t tableLimit) const;

private:
  using Weight = int64_t;

  /// Changes the weight of `v` by `difference`.
  void reweigh(Variable v, Weight difference);

  std::vector<size_t> sizes;
  /// For each variable: the base-2 logarithm of its number of values, times
  /// 2^20 and rounded. A sum of integers does not depend on the order of the
  /// addends, as a sum of floating-point numbers does.
  std::vector<Weight> logSizes;
  std::vector<std::set<Variable>> neighbours;
  /// For each variable: the sum of the logarithms of its neighbors, which is
  /// the logarithm of the size of the table that would replace it.
  std::vector<Weight> weights;
  /// The variables that are left, as pairs (weights[v], v).
  std::set<std::pair<Weight, Variable>> queue;
};

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_ELIMINATIONORDER_H
