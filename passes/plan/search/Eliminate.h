//===- Eliminate.h - variable elimination over a cost graph ---------------===//
//
// Bucket elimination (Dechter 1999). The elimination of a variable v replaces
// its cost tables by a new one. The new table has one entry for each
// combination of values of the neighbors of v: the least cost over all values
// of v. At the end, the variables get their values in reverse order of
// elimination.
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_ELIMINATE_H
#define PCC_PASSES_PLAN_SEARCH_ELIMINATE_H

#include "passes/plan/search/EliminationOrder.h"

namespace pcc::plan {

/// Eliminates the variables of a cost graph one after another. Each variable
/// gets the value with which the assignment costs least; freeze() alone
/// estimates.
class Elimination {
public:
  /// Prepares the elimination of the variables of `graph`, which must outlive
  /// this object. Drops forbidden values, except if all values of a variable
  /// are forbidden. Also drops a value if every assignment with this value
  /// provably costs `bound` or more.
  explicit Elimination(const CostGraph &graph,
                       const Cost &bound = Cost::forbidden());

  /// Returns whether an assignment can exist that costs less than `bound`.
  bool isPossible() const { return hasValues; }
  /// See EliminationOrder::work().
  double work(size_t tableLimit) const { return order.work(tableLimit); }

  /// Eliminates the variables with at most two neighbors, until none is left.
  /// All tables then have two variables.
  void eliminateChains();
  /// Eliminates all variables. If the table of each remaining variable would
  /// have more than `tableLimit` entries, fixes one variable to an estimated
  /// value instead.
  void eliminateAll(size_t tableLimit);
  /// Returns the problem that eliminateChains() leaves. Its variables are those
  /// that are left, in ascending order, and their values are those that remain.
  CostGraph rest() const;
  /// Gives each variable that is left its value in `assignment`, an assignment
  /// of rest().
  void fixAll(const std::vector<uint32_t> &assignment);

  /// Returns the values of all variables, as numbers of `graph`, after all have
  /// been eliminated or fixed.
  std::vector<uint32_t> decide() const;
  /// Returns the variables that eliminateAll() has fixed to estimated values.
  const std::vector<Variable> &frozenVariables() const { return frozen; }
  /// Returns the number of entries of the largest table so far.
  size_t largestTable() const { return largest; }

private:
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
  /// that costs least. The value of the last variable in `scope` changes
  /// fastest. If the variable was fixed to one value, `scope` is empty, and
  /// `best` has only this value.
  struct EliminatedVariable {
    Variable variable;
    std::vector<Variable> scope;
    std::vector<uint16_t> best;
  };

  /// Cost table that contains variable v, which is being eliminated. The
  /// elimination visits all combinations of values of the other variables.
  /// costs[offset + x * step] is the entry for the value x of v and the visited
  /// combination.
  struct TableOperand {
    const Cost *costs;
    size_t offset;
    /// Distance in the array `costs` between the entry for one value of
    /// variable v and the entry for the next value of v.
    size_t step;
    /// Distances in the array `costs`, one for each neighbor of v. If the value
    /// of neighbor number k grows by 1, the index in `costs` grows by
    /// strides[k]. strides[k] is 0 if the table in `costs` does not contain
    /// neighbor number k.
    std::vector<size_t> strides;
  };

  size_t size(Variable v) const { return unary[v].size(); }
  void keepCheap(const Cost &bound);
  std::vector<std::vector<Cost>> leastCosts() const;
  void addTable(Table table);
  /// Replaces the cost table tables[index] with an empty table. All other
  /// tables keep their indices.
  void removeTable(size_t index);
  std::vector<TableOperand>
  operandsOf(Variable v, const std::vector<Variable> &scope) const;
  void eliminate(Variable v);
  void freeze(Variable v);
  /// Fixes variable `v` to `value`. Each cost table that contains `v` then
  /// keeps only its entries for this value.
  void restrictTables(Variable v, uint32_t value);

  const CostGraph &graph;
  /// values[v] lists the values that variable v can still have. A value is
  /// given by its number in the cost graph.
  std::vector<std::vector<uint32_t>> values;
  /// Costs that depend on one variable only. unary[v][i] is the cost if v has
  /// the value values[v][i]. For example, values[3] is {0, 2}. unary[3][1] is
  /// then the cost if variable 3 has the value 2.
  std::vector<std::vector<Cost>> unary;
  std::vector<Table> tables;
  /// For each variable: indices of the cost tables that contain it. A search
  /// tree, since a variable may be in thousands of tables.
  std::vector<std::set<size_t>> tablesOf;
  EliminationOrder order;
  /// One record for each variable that has been removed from the problem so
  /// far, in the order of removal. A variable is removed in one of two ways:
  ///  - A cost table replaces the variable (elimination). The record has the
  ///    best value of the variable for each combination of values of the
  ///    variables that have common costs with the eliminated variable.
  ///  - The variable is fixed to one value. The record has only this value.
  std::vector<EliminatedVariable> decisions;
  std::vector<Variable> frozen;
  size_t largest = 1;
  /// Whether every variable has a value left.
  bool hasValues = true;
};

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_ELIMINATE_H
