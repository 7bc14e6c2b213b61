//===- Minimise.cpp - cheapest assignment of a cost graph -----------------===//

#include "passes/plan/search/Minimise.h"
#include "passes/plan/search/DualAscent.h"
#include "passes/plan/search/Eliminate.h"
#include "passes/plan/search/LocalSearch.h"

#include <algorithm>

namespace pcc::plan {
namespace {

/// Number of costs that an elimination may compute before lower bounds are
/// tried: less than a tenth of a second.
constexpr double mostDirectWork = 1 << 21;

/// Number of costs that an elimination may compute after lower bounds have
/// excluded values: about half a second.
constexpr double mostBoundedWork = 1 << 25;

/// Largest number of entries of a table where some variables are frozen.
constexpr size_t frozenTableLimit = 1 << 16;

/// A cost graph of which some values are left out.
struct Restriction {
  Restriction(const CostGraph &graph,
              std::vector<std::vector<uint32_t>> keptValues)
      : kept(std::move(keptValues)) {
    for (Variable v = 0; v < graph.numVariables(); ++v) {
      std::vector<Cost> unary;
      for (uint32_t value : kept[v])
        unary.push_back(graph.unary(v)[value]);
      rest.addVariable(std::move(unary));
    }
    for (const CostGraph::Pair &pair : graph.pairs())
      rest.addPairs(pair.a, pair.b, [&](size_t i, size_t j) {
        return pair
            .table[kept[pair.a][i] * graph.domain(pair.b) + kept[pair.b][j]];
      });
  }

  /// Translates an assignment of `rest` to one of the whole graph.
  std::vector<uint32_t> expand(std::vector<uint32_t> assignment) const {
    for (Variable v = 0; v < assignment.size(); ++v)
      assignment[v] = kept[v][assignment[v]];
    return assignment;
  }

  CostGraph rest;
  /// kept[v][i] is the number in the whole graph of value i of variable v.
  std::vector<std::vector<uint32_t>> kept;
};

/// Finds an assignment of a graph whose tables would be too large. Lower bounds
/// give each value an excess over the least cost. Only values with an excess up
/// to some gap are kept, and the rest is solved exactly. If the found
/// assignment lies within the gap, no other is cheaper.
class BoundedSearch {
public:
  BoundedSearch(const CostGraph &graph, size_t tableLimit)
      : graph(graph), tableLimit(tableLimit), relaxation(relax(graph)) {}

  Assignment run() {
    best.exact = false;
    offer(relaxation.values);
    double tooWide = std::numeric_limits<double>::infinity();
    double gap = relaxation.gapTo(best.cost);
    for (int attempt = 0; attempt < mostAttempts; ++attempt) {
      if (!searchWithin(gap)) {
        tooWide = gap;
        gap /= 4;
        continue;
      }
      const double needed = relaxation.gapTo(best.cost);
      best.exact = needed <= gap + relaxation.scale.tolerance();
      if (best.exact || needed >= tooWide)
        break;
      gap = needed;
    }
    return best;
  }

private:
  static constexpr int mostAttempts = 6;

  /// Solves the graph without the values whose excess is above `gap`. Returns
  /// false if that is too much work.
  bool searchWithin(double gap) {
    const Restriction restriction(graph, relaxation.valuesWithin(gap));
    if (std::any_of(restriction.kept.begin(), restriction.kept.end(),
                    [](const auto &values) { return values.empty(); }))
      return true;
    Elimination elimination(restriction.rest);
    if (!(elimination.work(tableLimit) <= mostBoundedWork))
      return false;
    elimination.eliminateAll(tableLimit);
    best.largestTable = std::max(best.largestTable, elimination.largestTable());
    offer(restriction.expand(elimination.decide()));
    return true;
  }

  /// Keeps `values` if they cost less than `best`.
  void offer(std::vector<uint32_t> values) {
    const Cost cost = graph.evaluate(values);
    if (!best.values.empty() && !(cost < best.cost))
      return;
    best.values = std::move(values);
    best.cost = cost;
  }

  const CostGraph &graph;
  const size_t tableLimit;
  const Relaxation relaxation;
  Assignment best;
};

/// Returns an assignment of `graph` that an elimination finds which estimates
/// the values of some variables.
Assignment estimate(const CostGraph &graph, size_t tableLimit) {
  Elimination elimination(graph);
  elimination.eliminateAll(std::min(tableLimit, frozenTableLimit));
  Assignment found;
  found.values = elimination.decide();
  improve(graph, found.values);
  found.cost = graph.evaluate(found.values);
  found.exact = elimination.frozenVariables().empty();
  found.largestTable = elimination.largestTable();
  return found;
}

} // namespace

Assignment minimise(const CostGraph &graph, size_t tableLimit,
                    const Cost &bound) {
  Elimination elimination(graph, bound);
  if (!elimination.isPossible())
    return {{}, Cost::forbidden(), true, 0};
  Assignment result;
  if (elimination.work(tableLimit) <= mostDirectWork) {
    elimination.eliminateAll(tableLimit);
  } else {
    elimination.eliminateChains();
    const CostGraph rest = elimination.rest();
    Assignment best = BoundedSearch(rest, tableLimit).run();
    if (!best.exact)
      if (Assignment other = estimate(rest, tableLimit); other.cost < best.cost)
        best = std::move(other);
    elimination.fixAll(best.values);
    result.exact = best.exact;
    result.largestTable = best.largestTable;
  }
  result.values = elimination.decide();
  result.cost = graph.evaluate(result.values);
  result.largestTable =
      std::max(result.largestTable, elimination.largestTable());
  return result;
}

} // namespace pcc::plan
