//===- DualAscent.cpp - lower bounds of a cost graph by message passing ---===//

#include "passes/plan/search/DualAscent.h"
#include "passes/plan/search/LocalSearch.h"

#include <algorithm>

namespace pcc::plan {

using Numbers = std::vector<double>;

double Relaxation::gapTo(const Cost &other) const {
  return std::max(0.0, scale.of(other) - bound);
}

std::vector<std::vector<uint32_t>> Relaxation::valuesWithin(double gap) const {
  std::vector<std::vector<uint32_t>> kept;
  for (const Numbers &own : excess) {
    auto &values = kept.emplace_back();
    for (size_t i = 0; i < own.size(); ++i)
      if (own[i] <= gap + scale.tolerance())
        values.push_back(static_cast<uint32_t>(i));
  }
  return kept;
}

namespace {

/// The costs of a pair of variables, and the messages between them. A message
/// to a variable has one number for each of its values.
struct Edge {
  Variable a, b;
  /// Costs in row-major order, and transposed.
  Numbers costs, transposed;
  Numbers toA, toB;

  Variable other(Variable v) const { return v == a ? b : a; }
  const Numbers &into(Variable v) const { return v == a ? toA : toB; }
  Numbers &outOf(Variable v) { return v == a ? toB : toA; }
  /// Returns the costs with one row for each value of `v`.
  const Numbers &rowsOf(Variable v) const {
    return v == a ? costs : transposed;
  }
};

/// Ascends the lower bound of `graph`. Each pass visits the variables in one
/// direction, and sends a message over each edge in this direction.
class DualAscent {
public:
  DualAscent(const CostGraph &graph, bool forbidsPenalties);
  Relaxation run();

private:
  /// Passes messages along ascending or descending variables. Returns the lower
  /// bound. Stores the excesses of all values if `excess` is not null; they
  /// hold for the bound of the pass before.
  double pass(bool ascends, std::vector<Numbers> *excess = nullptr);
  /// Sends the message of variable `v` over `edge`. `excess` has the costs of
  /// the values of `v`, including all messages, above the least one; `share` is
  /// the part of them that this edge gets. Returns what the bound gains.
  double send(Edge &edge, Variable v, const Numbers &excess, double share);
  /// Gives one variable after another the value that costs least, with the
  /// values of the variables before it and the messages of those behind it.
  std::vector<uint32_t> round() const;
  /// Replaces the assignment of `best` by `values`, improved, if it is cheaper.
  void offer(std::vector<uint32_t> values, Relaxation &best) const;

  const CostGraph &graph;
  CostScale scale;
  std::vector<Numbers> unary;
  std::vector<Edge> edges;
  /// For each variable: indices of its edges.
  std::vector<std::vector<size_t>> edgesOf;
};

DualAscent::DualAscent(const CostGraph &graph, bool forbidsPenalties)
    : graph(graph), scale(graph, forbidsPenalties),
      edgesOf(graph.numVariables()) {
  for (Variable v = 0; v < graph.numVariables(); ++v) {
    Numbers &own = unary.emplace_back();
    for (const Cost &cost : graph.unary(v))
      own.push_back(scale.of(cost));
  }
  for (const CostGraph::Pair &pair : graph.pairs()) {
    const size_t rows = graph.domain(pair.a), columns = graph.domain(pair.b);
    Edge edge{pair.a,        pair.b,          {}, Numbers(rows * columns),
              Numbers(rows), Numbers(columns)};
    for (const Cost &cost : pair.table)
      edge.costs.push_back(scale.of(cost));
    for (size_t i = 0; i < rows; ++i)
      for (size_t j = 0; j < columns; ++j)
        edge.transposed[j * rows + i] = edge.costs[i * columns + j];
    for (Variable v : {pair.a, pair.b})
      edgesOf[v].push_back(edges.size());
    edges.push_back(std::move(edge));
  }
}

double DualAscent::send(Edge &edge, Variable v, const Numbers &excess,
                        double share) {
  const Numbers &in = edge.into(v), &rows = edge.rowsOf(v);
  Numbers &out = edge.outOf(v);
  const size_t columns = out.size();
  std::fill(out.begin(), out.end(), std::numeric_limits<double>::max());
  for (size_t i = 0; i < in.size(); ++i) {
    const double own = share * excess[i] - in[i];
    const double *row = &rows[i * columns];
    for (size_t j = 0; j < columns; ++j)
      out[j] = std::min(out[j], own + row[j]);
  }
  const double least = *std::min_element(out.begin(), out.end());
  for (double &number : out)
    number -= least;
  return least;
}

double DualAscent::pass(bool ascends, std::vector<Numbers> *excesses) {
  double bound = 0;
  if (excesses)
    excesses->assign(unary.size(), {});
  for (size_t k = 0; k < unary.size(); ++k) {
    const auto v = static_cast<Variable>(ascends ? k : unary.size() - 1 - k);
    Numbers excess = unary[v];
    size_t before = 0;
    for (size_t index : edgesOf[v]) {
      const Numbers &in = edges[index].into(v);
      for (size_t i = 0; i < excess.size(); ++i)
        excess[i] += in[i];
      before += edges[index].other(v) < v;
    }
    const size_t behind = edgesOf[v].size() - before;
    const double least = *std::min_element(excess.begin(), excess.end());
    for (double &number : excess)
      number -= least;
    bound += least;
    const double share =
        1.0 / static_cast<double>(std::max({before, behind, size_t(1)}));
    for (size_t index : edgesOf[v])
      if ((edges[index].other(v) > v) == ascends)
        bound += send(edges[index], v, excess, share);
    if (excesses)
      (*excesses)[v] = std::move(excess);
  }
  return bound;
}

std::vector<uint32_t> DualAscent::round() const {
  std::vector<uint32_t> values(unary.size(), 0);
  for (Variable v = 0; v < unary.size(); ++v) {
    Numbers costs = unary[v];
    for (size_t index : edgesOf[v]) {
      const Edge &edge = edges[index];
      const Variable other = edge.other(v);
      const double *fixed =
          other < v ? &edge.rowsOf(other)[values[other] * costs.size()]
                    : edge.into(v).data();
      for (size_t i = 0; i < costs.size(); ++i)
        costs[i] += fixed[i];
    }
    values[v] = static_cast<uint32_t>(
        std::min_element(costs.begin(), costs.end()) - costs.begin());
  }
  return values;
}

void DualAscent::offer(std::vector<uint32_t> values, Relaxation &best) const {
  improve(graph, values);
  const Cost cost = graph.evaluate(values);
  if (best.values.empty() || cost < best.cost)
    best.values = std::move(values), best.cost = cost;
}

Relaxation DualAscent::run() {
  // Bounds of most graphs stop rising after about 200 iterations.
  constexpr int mostIterations = 300, perRound = 20;
  constexpr double leastGain = 1e-6;
  Relaxation best;
  best.scale = scale;
  double before = 0;
  for (int iteration = 1;; ++iteration) {
    const double bound = pass(/*ascends=*/true);
    const bool isRound = iteration % perRound == 0;
    if (!isRound) {
      pass(/*ascends=*/false);
      continue;
    }
    offer(round(), best);
    pass(/*ascends=*/false, &best.excess);
    best.bound = bound;
    if (best.gapTo(best.cost) <= scale.tolerance() ||
        bound - before <= leastGain * bound || iteration >= mostIterations)
      return best;
    before = bound;
  }
}

} // namespace

Relaxation relax(const CostGraph &graph) {
  Relaxation found = DualAscent(graph, /*forbidsPenalties=*/true).run();
  if (found.cost.penalty > 0)
    found = DualAscent(graph, /*forbidsPenalties=*/false).run();
  return found;
}

} // namespace pcc::plan
