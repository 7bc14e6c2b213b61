//===- LocalSearch.cpp - cheaper assignments by single changes ------------===//

#include "passes/plan/search/LocalSearch.h"

namespace pcc::plan {

using PairsOf = std::vector<std::vector<const CostGraph::Pair *>>;

/// Returns the costs of `graph` that depend on variable `v`, if it has the
/// value `value` and all other variables have those in `assignment`.
static Cost costOf(const CostGraph &graph, const PairsOf &pairsOf, Variable v,
                   uint32_t value, const std::vector<uint32_t> &assignment) {
  Cost cost = graph.unary(v)[value];
  for (const CostGraph::Pair *pair : pairsOf[v]) {
    const uint32_t row = pair->a == v ? value : assignment[pair->a];
    const uint32_t column = pair->b == v ? value : assignment[pair->b];
    cost += pair->table[row * graph.domain(pair->b) + column];
  }
  return cost;
}

void improve(const CostGraph &graph, std::vector<uint32_t> &assignment) {
  constexpr int mostSweeps = 16;
  PairsOf pairsOf(graph.numVariables());
  for (const CostGraph::Pair &pair : graph.pairs()) {
    pairsOf[pair.a].push_back(&pair);
    pairsOf[pair.b].push_back(&pair);
  }
  bool changed = true;
  for (int sweep = 0; changed && sweep < mostSweeps; ++sweep) {
    changed = false;
    for (Variable v = 0; v < graph.numVariables(); ++v) {
      Cost least = costOf(graph, pairsOf, v, assignment[v], assignment);
      for (uint32_t value = 0; value < graph.domain(v); ++value)
        if (const Cost cost = costOf(graph, pairsOf, v, value, assignment);
            cost < least)
          least = cost, assignment[v] = value, changed = true;
    }
  }
}

} // namespace pcc::plan
