//===- EliminationOrder.cpp - which variable to eliminate next ------------===//

#include "passes/plan/search/EliminationOrder.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace pcc::plan {

EliminationOrder::EliminationOrder(std::vector<size_t> ofVariables)
    : sizes(std::move(ofVariables)), neighbours(sizes.size()),
      weights(sizes.size(), 0) {
  for (Variable v = 0; v < sizes.size(); ++v) {
    logSizes.push_back(std::llround(
        std::log2(std::max(1.0, static_cast<double>(sizes[v]))) * (1 << 20)));
    queue.insert({0, v});
  }
}

void EliminationOrder::reweigh(Variable v, Weight difference) {
  queue.erase({weights[v], v});
  weights[v] += difference;
  queue.insert({weights[v], v});
}

void EliminationOrder::connect(Variable a, Variable b) {
  if (!neighbours[a].insert(b).second)
    return;
  neighbours[b].insert(a);
  reweigh(a, logSizes[b]);
  reweigh(b, logSizes[a]);
}

void EliminationOrder::remove(Variable v) {
  queue.erase({weights[v], v});
  for (Variable other : std::exchange(neighbours[v], {})) {
    neighbours[other].erase(v);
    reweigh(other, -logSizes[v]);
  }
}

void EliminationOrder::eliminate(Variable v) {
  const std::set<Variable> scope = neighbours[v];
  remove(v);
  for (auto a = scope.begin(); a != scope.end(); ++a)
    for (auto b = std::next(a); b != scope.end(); ++b)
      connect(*a, *b);
}

Variable EliminationOrder::busiest() const {
  Variable most = queue.begin()->second;
  for (const auto &[weight, v] : queue)
    if (neighbours[v].size() > neighbours[most].size() ||
        (neighbours[v].size() == neighbours[most].size() && v < most))
      most = v;
  return most;
}

std::vector<Variable> EliminationOrder::variables() const {
  std::vector<Variable> left;
  for (const auto &[weight, v] : queue)
    left.push_back(v);
  std::sort(left.begin(), left.end());
  return left;
}

double EliminationOrder::entriesFor(Variable v) const {
  constexpr double most = 1e15;
  double product = 1;
  for (Variable other : neighbours[v])
    product *= static_cast<double>(sizes[other]);
  return std::min(product, most);
}

double EliminationOrder::work(size_t tableLimit) const {
  EliminationOrder rest = *this;
  double sum = 0;
  while (!rest.isEmpty()) {
    const Variable v = rest.next();
    const double entries = rest.entriesFor(v);
    if (entries > static_cast<double>(tableLimit))
      return std::numeric_limits<double>::infinity();
    sum += entries * static_cast<double>(sizes[v]);
    rest.eliminate(v);
  }
  return sum;
}

} // namespace pcc::plan
