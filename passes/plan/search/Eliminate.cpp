//===- Eliminate.cpp - variable elimination over a cost graph -------------===//

#include "passes/plan/search/Eliminate.h"

#include <algorithm>

namespace pcc::plan {

/// Returns, for each remaining value of each variable, a lower bound of the
/// total cost of the assignments in which the variable has this value. The
/// bound is the unary cost of the value, plus, for each other variable, the
/// least pairwise cost of the value with any value of that variable. The bound
/// is valid only if all other costs are at least 0.
std::vector<std::vector<Cost>> Elimination::leastCosts() const {
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
/// values can raise the lower bounds. Sets `hasValues` to false if a variable
/// has no value left.
void Elimination::keepCheap(const Cost &bound) {
  for (bool changed = !bound.isForbidden(); changed;) {
    changed = false;
    const auto least = leastCosts();
    for (Variable v = 0; v < values.size(); ++v) {
      std::vector<uint32_t> kept;
      for (size_t i = 0; i < values[v].size(); ++i)
        if (least[v][i] < bound)
          kept.push_back(values[v][i]);
      changed |= kept.size() < values[v].size();
      hasValues &= !kept.empty();
      values[v] = std::move(kept);
    }
    changed &= hasValues;
  }
}

Elimination::Elimination(const CostGraph &graph, const Cost &bound)
    : graph(graph), values(graph.numVariables()), unary(values.size()),
      tablesOf(values.size()), order({}) {
  for (Variable v = 0; v < values.size(); ++v) {
    const std::vector<Cost> &costs = graph.unary(v);
    const bool any = std::any_of(costs.begin(), costs.end(), [](const Cost &c) {
      return !c.isForbidden();
    });
    for (uint32_t value = 0; value < costs.size(); ++value)
      if (!any || !costs[value].isForbidden())
        values[v].push_back(value);
  }
  keepCheap(bound);
  std::vector<size_t> sizes;
  for (Variable v = 0; v < values.size(); ++v) {
    for (uint32_t value : values[v])
      unary[v].push_back(graph.unary(v)[value]);
    sizes.push_back(size(v));
  }
  if (!hasValues)
    return;
  order = EliminationOrder(std::move(sizes));
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
void Elimination::addTable(Table table) {
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
        order.connect(v, other);
  }
  tables.push_back(std::move(table));
}

void Elimination::removeTable(size_t index) {
  for (Variable v : tables[index].scope)
    tablesOf[v].erase(index);
  tables[index] = {};
}

/// Returns a TableOperand for each cost table that contains variable `v`. Its
/// `offset` is 0, the entry where all variables have their first value. `scope`
/// lists all other variables of these tables, in ascending order. `strides[k]`
/// is the distance between the entries for two neighboring values of the
/// variable scope[k], or 0 if the table does not contain this variable.
std::vector<Elimination::TableOperand>
Elimination::operandsOf(Variable v, const std::vector<Variable> &scope) const {
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
void Elimination::eliminate(Variable v) {
  const std::set<Variable> &neighbours = order.neighboursOf(v);
  EliminatedVariable decision{v, {neighbours.begin(), neighbours.end()}, {}};
  const std::vector<Variable> &scope = decision.scope;
  std::vector<TableOperand> operands = operandsOf(v, scope);
  Table reduced{scope, {}};
  const auto count = static_cast<size_t>(order.entriesFor(v));
  largest = std::max(largest, count);
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
  order.remove(v);
  decisions.push_back(std::move(decision));
  addTable(std::move(reduced));
}

/// Fixes variable `v` to the value with the least estimated cost. The estimate
/// is the unary cost of the value, plus the least entry with this value in each
/// cost table that contains `v`.
void Elimination::freeze(Variable v) {
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

void Elimination::restrictTables(Variable v, uint32_t value) {
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
  order.remove(v);
  for (Table &table : restricted)
    addTable(std::move(table));
}

std::vector<uint32_t> Elimination::decide() const {
  std::vector<uint32_t> chosen(values.size(), 0);
  for (size_t d = decisions.size(); d-- > 0;) {
    const EliminatedVariable &decision = decisions[d];
    size_t entry = 0;
    for (Variable w : decision.scope)
      entry = entry * size(w) + chosen[w];
    chosen[decision.variable] = decision.best[entry];
  }
  std::vector<uint32_t> result;
  for (Variable v = 0; v < values.size(); ++v)
    result.push_back(values[v].empty() ? 0 : values[v][chosen[v]]);
  return result;
}

void Elimination::eliminateChains() {
  std::set<Variable> ready;
  const auto add = [&](Variable v) {
    if (order.neighboursOf(v).size() <= 2)
      ready.insert(v);
  };
  for (Variable v : order.variables())
    add(v);
  while (!ready.empty()) {
    const Variable v = *ready.begin();
    ready.erase(ready.begin());
    const std::set<Variable> neighbours = order.neighboursOf(v);
    eliminate(v);
    for (Variable other : neighbours)
      add(other);
  }
}

void Elimination::eliminateAll(size_t tableLimit) {
  while (!order.isEmpty()) {
    const Variable next = order.next();
    if (order.entriesFor(next) <= static_cast<double>(tableLimit))
      eliminate(next);
    else
      freeze(order.busiest());
  }
}

CostGraph Elimination::rest() const {
  CostGraph rest;
  std::vector<Variable> numberOf(values.size(), 0);
  for (Variable v : order.variables())
    numberOf[v] = rest.addVariable(unary[v]);
  for (const Table &table : tables)
    if (table.scope.size() == 2)
      rest.addPair(numberOf[table.scope[0]], numberOf[table.scope[1]],
                   table.costs);
  return rest;
}

void Elimination::fixAll(const std::vector<uint32_t> &assignment) {
  const std::vector<Variable> left = order.variables();
  for (size_t i = 0; i < left.size(); ++i) {
    decisions.push_back({left[i], {}, {static_cast<uint16_t>(assignment[i])}});
    order.remove(left[i]);
  }
}

} // namespace pcc::plan
