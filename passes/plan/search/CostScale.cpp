//===- CostScale.cpp - costs as single numbers ----------------------------===//

#include "passes/plan/search/CostScale.h"

#include <algorithm>

namespace pcc::plan {

/// The parts of a cost in the order in which costs are compared.
static constexpr double Cost::*parts[] = {&Cost::penalty, &Cost::picoseconds,
                                          &Cost::bytes, &Cost::calls,
                                          &Cost::memory};

static bool isAllowed(const Cost &cost, bool forbidsPenalties) {
  return !cost.isForbidden() && !(forbidsPenalties && cost.penalty > 0);
}

/// Raises each part of `cost` to that of `other`, if this is larger.
static void raise(Cost &cost, const Cost &other) {
  for (double Cost::*part : parts)
    cost.*part = std::max(cost.*part, other.*part);
}

/// Returns the largest value of each part of the costs in `costs`. Leaves out
/// those that are forbidden, and with `forbidsPenalties` those with a penalty.
static Cost largestOf(const std::vector<Cost> &costs, bool forbidsPenalties) {
  Cost largest;
  for (const Cost &cost : costs)
    if (isAllowed(cost, forbidsPenalties))
      raise(largest, cost);
  return largest;
}

CostScale::CostScale(const CostGraph &graph, bool forbidsPenalties)
    : forbidsPenalties(forbidsPenalties) {
  Cost total;
  for (Variable v = 0; v < graph.numVariables(); ++v)
    total += largestOf(graph.unary(v), forbidsPenalties);
  for (const CostGraph::Pair &pair : graph.pairs())
    total += largestOf(pair.table, forbidsPenalties);
  // One unit of a part weighs more than all of the parts behind it. The first
  // part that occurs has the weight 1.
  double unit = 0;
  for (double Cost::*part : parts)
    if (total.*part > 0) {
      unit = unit > 0 ? unit / (2 * total.*part) : 1;
      weights.*part = unit;
      most += unit * total.*part;
    }
  most = 2 * most + 1;
}

double CostScale::of(const Cost &cost) const {
  double sum = 0;
  for (double Cost::*part : parts)
    sum += weights.*part * cost.*part;
  return isAllowed(cost, forbidsPenalties) ? sum : most;
}

double CostScale::tolerance() const {
  constexpr double share = 1e-13;
  return share * most;
}

} // namespace pcc::plan
