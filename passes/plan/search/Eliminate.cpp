//===- Eliminate.cpp - variable elimination over a cost graph -------------===//

#include "passes/plan/search/Eliminate.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace pcc::plan {
namespace {

/// A cost for each combination of values of some variables. `scope` has the
/// numbers of these variables, ascending. In `costs`, the value of the last
/// variable changes fastest.
struct Table {
  std::vector<Variable> scope;
  std::vector<Cost> costs;
};

/// Record of an eliminated variable. `scope` lists the other variables with
/// which it had common costs. `best` has one entry for each combination of
/// values of the variables in `scope`: the value of the eliminated variable
/// that costs least. The value of the last variable in `scope` changes fastest.
/// If the variable was fixed to one value, `scope` is empty, and `best` has
/// only this value.
struct EliminatedVariable {
  Variable variable;
  std::vector<Variable> scope;
  std::vector<uint16_t> best;
};

/// Implements `minimise` by variable elimination. The elimination of a variable
/// v replaces its cost tables by a new one. The new table has one entry for
/// each combination of values of the neighbors of v: the least cost over all
/// values of v. At the end, the variables get their values in reverse order of
/// elimination. values[v][i] is the number in the cost graph of the i-th
/// remaining value of variable v.
class Eliminator {
public:
  Eliminator(const CostGraph &graph, size_t tableLimit, const Cost &bound);
  Assignment run();

private:
  using Weight = int64_t;

  /// Cost table that contains variable v, which is being eliminated. The
  /// elimination visits all combinations of values of the other variables.
  /// costs[offset + x * step] is the entry for the value x of v and the visited
  /// combination.
  struct TableOperand {
    const Cost *costs;
    size_t offset;
    /// Distance in the array `costs` between the entry for one value of
    /// variable v and the entry for the next value of v. The array holds a cost
    /// table, and v is the variable that is being eliminated.
    size_t step;
    /// Distances in the array `costs`, one for each neighbor of v. v is the
    /// variable that is being eliminated. A neighbor of v is another variable
    /// that occurs in a cost table together with v. If the value of neighbor
    /// number k grows by 1, the index in `costs` grows by strides[k].
    /// strides[k] is 0 if the table in `costs` does not contain neighbor number
    /// k.
    std::vector<size_t> strides;
  };

  size_t size(Variable v) const { return unary[v].size(); }
  /// Returns the base-2 logarithm of the number of values of variable `v`,
  /// times 2^20 and rounded to an integer. For a variable with 8 values, for
  /// example, the function returns 3 * 2^20. The result is an integer, because
  /// a sum of integers does not depend on the order of the addends. A sum of
  /// floating-point numbers depends on the order.
  Weight logSize(Variable v) const {
    return std::llround(std::log2(static_cast<double>(size(v))) * (1 << 20));
  }
  void keepCheap(const Cost &bound);
  std::vector<std::vector<Cost>> leastCosts() const;
  void addTable(Table table);
  /// Replaces the cost table tables[index] with an empty table. All other
  /// tables keep their indices. tablesOf[v] lists the indices of the tables
  /// that contain variable v. The function therefore also removes `index` from
  /// tablesOf[v] for each variable v of the cost table.
  void removeTable(size_t index);
  /// Makes two variables neighbors (variables in a common cost table).
  void connect(Variable a, Variable b);
  /// Removes variable `v` from `queue`, the set of the variables that are not
  /// eliminated or fixed yet. Two variables are neighbors if one cost table
  /// contains both. neighbours[w] is the set of neighbors of variable w. The
  /// function removes `v` from neighbours[w] for each neighbor w of `v`. It
  /// also updates weights[w], which depends on the neighbors of w.
  void disconnect(Variable v);
  std::vector<TableOperand>
  operandsOf(Variable v, const std::vector<Variable> &scope) const;
  void eliminate(Variable v);
  void freeze(Variable v);
  /// Fixes variable `v` to `value`. Each cost table that contains `v` then
  /// keeps only its entries for this value.
  void restrictTables(Variable v, uint32_t value);
  /// Returns the remaining variable with the most neighbors. Two variables are
  /// neighbors if one cost table contains both.
  Variable busiest() const;
  /// Returns the number of combinations of values of the variables in `scope`,
  /// at most 1e15.
  size_t entries(const std::set<Variable> &scope) const;
  /// Returns the best values of all variables. The best value of a variable
  /// depends only on the values of variables that were eliminated later. The
  /// function therefore decides the variables in reverse order of elimination.
  /// For example, variable v was eliminated before variable a. The function
  /// first decides the value of a. It then decides the value of v: `decisions`
  /// has the best value of v for each value of a.
  Assignment decideAll();
  void improve(Assignment &assignment) const;

  const CostGraph &graph;
  const size_t tableLimit;
  /// values[v] lists the values that variable v can still have. A value is
  /// given by its number in the cost graph.
  std::vector<std::vector<uint32_t>> values;
  /// Costs that depend on one variable only. values[v] lists the values that
  /// variable v can still have. unary[v][i] is the cost if v has the value
  /// values[v][i]. For example, values[3] is {0, 2}. unary[3][1] is then the
  /// cost if variable 3 has the value 2.
  std::vector<std::vector<Cost>> unary;
  std::vector<Table> tables;
  /// For each variable: indices of the cost tables that contain it. A search
  /// tree, since a variable may be in thousands of tables.
  std::vector<std::set<size_t>> tablesOf;
  std::vector<std::set<Variable>> neighbours;
  /// For each variable v: the size of the cost table that would replace v, as a
  /// logarithm. A neighbor of v is another variable that occurs in a cost table
  /// together with v. The new table would have one entry for each combination
  /// of values of the neighbors. weights[v] is the base-2 logarithm of the
  /// number of entries, times 2^20. For example, neighbors with 4 and 8 values
  /// give 32 entries, and weights[v] is 5 * 2^20.
  std::vector<Weight> weights;
  /// The variables that are not eliminated or fixed yet, as pairs (weights[v],
  /// v). weights[v] measures the size of the cost table that would replace
  /// variable v. The first pair belongs to the variable with the smallest
  /// table.
  std::set<std::pair<Weight, Variable>> queue;
  /// One record for each variable that has been removed from the problem so
  /// far, in the order of removal. A variable is removed in one of two ways:
  ///  - A cost table replaces the variable (elimination). The record has the
  ///    best value of the variable for each combination of values of the
  ///    variables that have common costs with the eliminated variable.
  ///  - The variable is fixed to one value. The record has only this value.
  std::vector<EliminatedVariable> decisions;
  std::vector<Variable> frozen;
  size_t largestTable = 1;
  /// Whether an assignment can exist that costs less than the limit `bound`.
  /// The caller of `minimise` gives this limit. The member is false if some
  /// variable has no value left. This can happen only if every assignment costs
  /// `bound` or more.
  bool isPossible = true;
};

/// Returns, for each remaining value of each variable, a lower bound of the
/// total cost of the assignments in which the variable has this value. The
/// bound is the unary cost of the value, plus, for each other variable, the
/// least pairwise cost of the value with any value of that variable. The bound
/// is valid only if all other costs are at least 0.
std::vector<std::vector<Cost>> Eliminator::leastCosts() const {
  std::vector<std::vector<Cost>> least;
  for (Variable v = 0; v < values.size(); ++v) {
    auto &own = least.emplace_back();
    for (uint32_t value : values[v])
      own.push_back(graph.unary(v)[value]);
  }
  for (const CostGraph::Pair &pair : graph.pairs()) {
    std::vector<Cost> rows(values[pair.a].size(), Cost::forbidden()),
        columns(values[pair.b].size(), Cost::forbidden());
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < columns.size(); ++j) {
        const Cost &cost = pair.table[values[pair.a][i] * graph.domain(pair.b) +
                                      values[pair.b][j]];
        rows[i] = std::min(rows[i], cost);
        columns[j] = std::min(columns[j], cost);
      }
    for (size_t i = 0; i < rows.size(); ++i)
      least[pair.a][i] += rows[i];
    for (size_t j = 0; j < columns.size(); ++j)
      least[pair.b][j] += columns[j];
  }
  return least;
}

/// Drops values with which every assignment costs `bound` or more, as
/// leastCosts() proves. Repeats this until no value is dropped, because fewer
/// values can raise the lower bounds. Sets `isPossible` to false if a variable
/// has no value left.
void Eliminator::keepCheap(const Cost &bound) {
  for (bool changed = !bound.isForbidden(); changed;) {
    changed = false;
    const auto least = leastCosts();
    for (Variable v = 0; v < values.size(); ++v) {
      std::vector<uint32_t> kept;
      for (size_t i = 0; i < values[v].size(); ++i)
        if (least[v][i] < bound)
          kept.push_back(values[v][i]);
      changed |= kept.size() < values[v].size();
      isPossible &= !kept.empty();
      values[v] = std::move(kept);
    }
    changed &= isPossible;
  }
}

/// Prepares the elimination of the variables of `graph`. Drops forbidden
/// values, except if all values of a variable are forbidden. Also drops a value
/// if every assignment with this value provably costs `bound` or more. Then
/// makes a cost table for each pair of variables with common costs. The table
/// has one entry for each pair of remaining values. `tableLimit` is the largest
/// number of entries of a table that the elimination may make.
Eliminator::Eliminator(const CostGraph &graph, size_t tableLimit,
                       const Cost &bound)
    : graph(graph), tableLimit(tableLimit) {
  const size_t count = graph.numVariables();
  values.resize(count);
  unary.resize(count);
  tablesOf.resize(count);
  neighbours.resize(count);
  weights.resize(count, 0);
  for (Variable v = 0; v < count; ++v) {
    const std::vector<Cost> &costs = graph.unary(v);
    const bool any = std::any_of(costs.begin(), costs.end(), [](const Cost &c) {
      return !c.isForbidden();
    });
    for (uint32_t value = 0; value < costs.size(); ++value)
      if (!any || !costs[value].isForbidden())
        values[v].push_back(value);
  }
  keepCheap(bound);
  for (Variable v = 0; v < count; ++v)
    for (uint32_t value : values[v])
      unary[v].push_back(graph.unary(v)[value]);
  if (!isPossible)
    return;
  for (Variable v = 0; v < count; ++v)
    queue.insert({0, v});
  for (const CostGraph::Pair &pair : graph.pairs()) {
    Table table;
    // `scope` lists the variables of the table. A variable with a single value
    // is not listed, because it does not change the size or the layout of the
    // table.
    for (Variable v : {pair.a, pair.b})
      if (size(v) > 1)
        table.scope.push_back(v);
    table.costs.reserve(size(pair.a) * size(pair.b));
    for (uint32_t i : values[pair.a])
      for (uint32_t j : values[pair.b])
        table.costs.push_back(pair.table[i * graph.domain(pair.b) + j]);
    addTable(std::move(table));
  }
}

/// Adds the costs of a table (one cost for each combination of values of its
/// variables) to the problem:
///  - A table of no variable is a constant and is dropped.
///  - A table of one variable is added to the unary costs of this variable.
///  - If an earlier table has the same variables, the costs are added to it.
///  - Any other table is kept as a new table.
void Eliminator::addTable(Table table) {
  if (table.scope.empty())
    return;
  if (table.scope.size() == 1) {
    for (size_t i = 0; i < table.costs.size(); ++i)
      unary[table.scope[0]][i] += table.costs[i];
    return;
  }
  // An earlier table with the same variables is a table of each of them: search
  // those of the variable with the fewest.
  const Variable rarest = *std::min_element(
      table.scope.begin(), table.scope.end(), [&](Variable a, Variable b) {
        return tablesOf[a].size() < tablesOf[b].size();
      });
  for (size_t other : tablesOf[rarest])
    if (tables[other].scope == table.scope) {
      for (size_t i = 0; i < table.costs.size(); ++i)
        tables[other].costs[i] += table.costs[i];
      return;
    }
  for (Variable v : table.scope) {
    tablesOf[v].insert(tables.size());
    for (Variable other : table.scope)
      if (v < other)
        connect(v, other);
  }
  tables.push_back(std::move(table));
}

void Eliminator::removeTable(size_t index) {
  for (Variable v : tables[index].scope)
    tablesOf[v].erase(index);
  tables[index] = {};
}

void Eliminator::connect(Variable a, Variable b) {
  if (!neighbours[a].insert(b).second)
    return;
  neighbours[b].insert(a);
  for (auto [v, other] : {std::pair(a, b), std::pair(b, a)}) {
    queue.erase({weights[v], v});
    weights[v] += logSize(other);
    queue.insert({weights[v], v});
  }
}

void Eliminator::disconnect(Variable v) {
  queue.erase({weights[v], v});
  for (Variable other : neighbours[v]) {
    neighbours[other].erase(v);
    queue.erase({weights[other], other});
    weights[other] -= logSize(v);
    queue.insert({weights[other], other});
  }
  neighbours[v].clear();
}

size_t Eliminator::entries(const std::set<Variable> &scope) const {
  double product = 1;
  for (Variable v : scope)
    product *= static_cast<double>(size(v));
  return product > 1e15 ? size_t(1e15) : static_cast<size_t>(product);
}

/// Returns a TableOperand for each cost table that contains variable `v`. Its
/// `offset` is 0, the entry where all variables have their first value. `scope`
/// lists all other variables of these tables, in ascending order. `strides[k]`
/// is the distance between the entries for two neighboring values of the
/// variable scope[k], or 0 if the table does not contain this variable.
std::vector<Eliminator::TableOperand>
Eliminator::operandsOf(Variable v, const std::vector<Variable> &scope) const {
  std::vector<TableOperand> operands;
  for (size_t index : tablesOf[v]) {
    const Table &table = tables[index];
    TableOperand operand{table.costs.data(), 0, 0,
                         std::vector<size_t>(scope.size(), 0)};
    size_t stride = 1;
    for (size_t k = table.scope.size(); k-- > 0;) {
      const Variable w = table.scope[k];
      if (w == v)
        operand.step = stride;
      else
        operand.strides[std::lower_bound(scope.begin(), scope.end(), w) -
                        scope.begin()] = stride;
      stride *= size(w);
    }
    operands.push_back(std::move(operand));
  }
  return operands;
}

/// Eliminates variable `v`. A neighbor of `v` is another variable that occurs
/// in a cost table together with `v`. One new cost table replaces all tables
/// that contain `v`. The new table has one entry for each combination of values
/// of the neighbors. The entry is the least cost over all values of `v`. The
/// function also records the value of `v` that has this least cost.
void Eliminator::eliminate(Variable v) {
  EliminatedVariable decision{
      v, {neighbours[v].begin(), neighbours[v].end()}, {}};
  const std::vector<Variable> &scope = decision.scope;
  std::vector<TableOperand> operands = operandsOf(v, scope);
  Table reduced{scope, {}};
  const size_t count = entries(neighbours[v]);
  largestTable = std::max(largestTable, count);
  reduced.costs.reserve(count);
  decision.best.reserve(count);
  // `scope` lists the neighbors of `v`. A neighbor is another variable that
  // occurs in a cost table together with `v`. The loop below visits all
  // combinations of values of the neighbors. at[k] is the value of the variable
  // scope[k] in the visited combination.
  std::vector<uint32_t> at(scope.size(), 0);
  for (size_t entry = 0; entry < count; ++entry) {
    Cost least;
    uint16_t best = 0;
    for (uint32_t value = 0; value < size(v); ++value) {
      Cost cost = unary[v][value];
      for (const TableOperand &operand : operands)
        cost += operand.costs[operand.offset + value * operand.step];
      if (value == 0 || cost < least)
        least = cost, best = static_cast<uint16_t>(value);
    }
    reduced.costs.push_back(least);
    decision.best.push_back(best);
    for (size_t k = scope.size(); k-- > 0;) {
      const bool wraps = ++at[k] == size(scope[k]);
      for (TableOperand &operand : operands)
        operand.offset +=
            wraps ? -(operand.strides[k] * (at[k] - 1)) : operand.strides[k];
      if (!wraps)
        break;
      at[k] = 0;
    }
  }

  while (!tablesOf[v].empty())
    removeTable(*tablesOf[v].rbegin());
  disconnect(v);
  decisions.push_back(std::move(decision));
  addTable(std::move(reduced));
}

Variable Eliminator::busiest() const {
  Variable most = queue.begin()->second;
  for (const auto &[weight, v] : queue)
    if (neighbours[v].size() > neighbours[most].size() ||
        (neighbours[v].size() == neighbours[most].size() && v < most))
      most = v;
  return most;
}

/// Fixes variable `v` to the value with the least estimated cost. The estimate
/// is the unary cost of the value, plus the least entry with this value in each
/// cost table that contains `v`.
void Eliminator::freeze(Variable v) {
  uint32_t best = 0;
  Cost least;
  for (uint32_t value = 0; value < size(v); ++value) {
    Cost cost = unary[v][value];
    for (size_t index : tablesOf[v]) {
      const Table &table = tables[index];
      size_t stride = 1;
      for (size_t k = table.scope.size(); table.scope[--k] != v;)
        stride *= size(table.scope[k]);
      Cost cheapest;
      bool first = true;
      for (size_t i = 0; i < table.costs.size(); ++i)
        if (i / stride % size(v) == value &&
            (first || table.costs[i] < cheapest))
          cheapest = table.costs[i], first = false;
      cost += cheapest;
    }
    if (value == 0 || cost < least)
      least = cost, best = value;
  }
  restrictTables(v, best);
  frozen.push_back(v);
  decisions.push_back({v, {}, {static_cast<uint16_t>(best)}});
}

void Eliminator::restrictTables(Variable v, uint32_t value) {
  std::vector<Table> restricted;
  while (!tablesOf[v].empty()) {
    const size_t index = *tablesOf[v].rbegin();
    Table table = std::move(tables[index]);
    tables[index].scope = table.scope;
    removeTable(index);
    Table rest;
    size_t stride = 1;
    for (size_t k = table.scope.size(); table.scope[--k] != v;)
      stride *= size(table.scope[k]);
    for (size_t i = 0; i < table.costs.size(); ++i)
      if (i / stride % size(v) == value)
        rest.costs.push_back(table.costs[i]);
    for (Variable w : table.scope)
      if (w != v)
        rest.scope.push_back(w);
    restricted.push_back(std::move(rest));
  }
  disconnect(v);
  for (Table &table : restricted)
    addTable(std::move(table));
}

Assignment Eliminator::decideAll() {
  const size_t count = graph.numVariables();
  std::vector<uint32_t> chosen(count, 0);
  for (size_t d = decisions.size(); d-- > 0;) {
    const EliminatedVariable &decision = decisions[d];
    size_t entry = 0;
    for (Variable w : decision.scope)
      entry = entry * size(w) + chosen[w];
    chosen[decision.variable] = decision.best[entry];
  }
  Assignment result;
  for (Variable v = 0; v < count; ++v)
    result.values.push_back(values[v].empty() ? 0 : values[v][chosen[v]]);
  return result;
}

/// Lowers the cost of an assignment by local search. An assignment has one
/// value for each variable. The function visits the variables one after
/// another. For each visited variable, it selects the value with which the
/// assignment costs least. All other variables keep their values meanwhile. The
/// function repeats these visits until no value changes, but visits each
/// variable at most 16 times.
void Eliminator::improve(Assignment &assignment) const {
  std::vector<std::vector<const CostGraph::Pair *>> pairsOf(
      graph.numVariables());
  for (const CostGraph::Pair &pair : graph.pairs()) {
    pairsOf[pair.a].push_back(&pair);
    pairsOf[pair.b].push_back(&pair);
  }
  std::vector<uint32_t> &chosen = assignment.values;
  auto costOf = [&](Variable v, uint32_t value) {
    Cost cost = graph.unary(v)[value];
    for (const CostGraph::Pair *pair : pairsOf[v]) {
      const uint32_t row = pair->a == v ? value : chosen[pair->a];
      const uint32_t column = pair->b == v ? value : chosen[pair->b];
      cost += pair->table[row * graph.domain(pair->b) + column];
    }
    return cost;
  };
  bool changed = true;
  for (int sweep = 0; changed && sweep < 16; ++sweep) {
    changed = false;
    for (Variable v = 0; v < graph.numVariables(); ++v) {
      Cost least = costOf(v, chosen[v]);
      for (uint32_t value : values[v])
        if (Cost cost = costOf(v, value); cost < least)
          least = cost, chosen[v] = value, changed = true;
    }
  }
}

/// Eliminates the variables one by one, until none is left. Elimination
/// replaces a variable with a cost table. The function always eliminates the
/// variable with the smallest such table. If even this table has more than
/// `tableLimit` entries, the function eliminates no variable. Instead, it fixes
/// one variable to one value. It selects the variable that has common cost
/// tables with the largest number of other variables.
Assignment Eliminator::run() {
  if (!isPossible)
    return {{}, Cost::forbidden(), true, {}, 0};
  while (!queue.empty()) {
    const Variable next = queue.begin()->second;
    if (entries(neighbours[next]) <= tableLimit)
      eliminate(next);
    else
      freeze(busiest());
  }
  Assignment result = decideAll();
  if (!frozen.empty())
    improve(result);
  result.exact = frozen.empty();
  result.frozen = frozen;
  result.largestTable = largestTable;
  result.cost = graph.evaluate(result.values);
  return result;
}

} // namespace

Assignment minimise(const CostGraph &graph, size_t tableLimit,
                    const Cost &bound) {
  return Eliminator(graph, tableLimit, bound).run();
}

} // namespace pcc::plan
