//===- CostGraph.h - unary and pairwise costs over discrete variables -----===//
//
// Discrete optimisation problem: minimise a sum of costs that depend on one
// variable or on two (a weighted constraint network; a factor graph with
// pairwise factors). In 4-shard a variable is an op, whose values are its
// strategies, or a tensor, whose values are its shardings. Pairs are edges of
// the graph, priced as reshards (Alpa, Zheng et al. 2022).
//
//===----------------------------------------------------------------------===//

#ifndef PCC_PASSES_PLAN_SEARCH_COSTGRAPH_H
#define PCC_PASSES_PLAN_SEARCH_COSTGRAPH_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace pcc::plan {

/// Cost of a choice. Costs add component-wise and compare lexicographically in
/// the order penalty, seconds, bytes, calls, memory: any penalty outweighs all
/// seconds, and so on.
struct Cost {
  /// Broken rules; infinite if the choice is forbidden.
  double penalty = 0;
  /// Received bytes.
  double bytes = 0;
  /// Calls of collectives.
  double calls = 0;
  /// Bytes of memory on one rank.
  double memory = 0;
  /// Modelled time; 0 if only bytes are priced.
  double seconds = 0;

  /// Returns the cost of a value, or a pair of values, that must not be chosen.
  static constexpr Cost forbidden() {
    return {std::numeric_limits<double>::infinity(), 0, 0, 0, 0};
  }
  bool isForbidden() const {
    return penalty == std::numeric_limits<double>::infinity();
  }

  /// Returns whether the choice breaks no rule, takes no time and communicates
  /// nothing. Memory may differ from 0.
  bool isFree() const {
    return penalty == 0 && seconds == 0 && bytes == 0 && calls == 0;
  }

  /// Returns the cost of `count` repetitions. Penalty and memory do not grow: a
  /// rule is broken once, and memory is reused.
  Cost times(double count) const {
    return {penalty, bytes * count, calls * count, memory, seconds * count};
  }

  Cost &operator+=(const Cost &other) {
    penalty += other.penalty;
    bytes += other.bytes;
    calls += other.calls;
    memory += other.memory;
    seconds += other.seconds;
    return *this;
  }
  friend Cost operator+(Cost a, const Cost &b) { return a += b; }
  friend Cost operator-(const Cost &a, const Cost &b) {
    return {a.penalty - b.penalty, a.bytes - b.bytes, a.calls - b.calls,
            a.memory - b.memory, a.seconds - b.seconds};
  }
  friend bool operator<(const Cost &a, const Cost &b) {
    if (a.penalty != b.penalty)
      return a.penalty < b.penalty;
    if (a.seconds != b.seconds)
      return a.seconds < b.seconds;
    if (a.bytes != b.bytes)
      return a.bytes < b.bytes;
    if (a.calls != b.calls)
      return a.calls < b.calls;
    return a.memory < b.memory;
  }
  friend bool operator==(const Cost &, const Cost &) = default;
};

/// A decision with finitely many values 0, 1, …. Variables are numbered from 0
/// in the order of creation.
using Variable = uint32_t;

/// A sum of unary and pairwise costs over discrete variables. `minimise`
/// (Eliminate.h) finds the cheapest assignment.
class CostGraph {
public:
  /// Costs of the pairs of values of two variables, row-major: entry
  /// [i * domain(b) + j] is the cost of a = i and b = j.
  struct Pair {
    Variable a, b;
    std::vector<Cost> table;
  };

  /// Adds a variable with one value per element of `unary`, which holds the
  /// costs of the values.
  Variable addVariable(std::vector<Cost> unary);

  /// Adds the costs `table`, in the layout of Pair::table, to the pair of `a`
  /// and `b`. Repeated calls for a pair, in either order of its variables, add
  /// up. If a == b, the diagonal of the table is added to the unary costs.
  void addPair(Variable a, Variable b, const std::vector<Cost> &table);

  /// Calls addPair with a table in which `cost(i, j)` is the cost of a = i and
  /// b = j.
  template <typename Fn> void addPairs(Variable a, Variable b, Fn &&cost) {
    std::vector<Cost> table;
    table.reserve(domain(a) * domain(b));
    for (size_t i = 0; i < domain(a); ++i)
      for (size_t j = 0; j < domain(b); ++j)
        table.push_back(cost(i, j));
    addPair(a, b, table);
  }

  size_t numVariables() const { return unaries.size(); }
  /// Returns the number of values of a variable.
  size_t domain(Variable variable) const { return unaries[variable].size(); }
  const std::vector<Cost> &unary(Variable variable) const {
    return unaries[variable];
  }
  /// Returns all pairs, each once and with a != b.
  const std::vector<Pair> &pairs() const { return allPairs; }

  /// Returns the total cost of an assignment: variable v has values[v].
  Cost evaluate(const std::vector<uint32_t> &values) const;

private:
  std::vector<std::vector<Cost>> unaries;
  std::vector<Pair> allPairs;
  /// Index into `allPairs` of each pair, with the lower variable first.
  std::map<std::pair<Variable, Variable>, size_t> pairIndex;
};

/// A value with several users, each of which needs it in some form (sharding).
/// Changing the form is paid once per form, however many users read that form.
struct SharedValue {
  /// The variable that decides the form in which the value is produced.
  Variable producer;
  /// By value of `producer`: the form that the producer produces.
  std::vector<uint32_t> producedForm;
  struct User {
    /// The variable that decides the form that the user needs.
    Variable variable;
    /// By value of `variable`: the form that the user needs.
    std::vector<uint32_t> wantedForm;
  };
  std::vector<User> users;
  /// reform[from][to] is the cost of one change of form; zero if from == to.
  std::vector<std::vector<Cost>> reform;
};

/// Result of addSharedValue.
struct SharedForms {
  /// Whether an auxiliary variable was added.
  bool hasVariable = false;
  /// The auxiliary variable.
  Variable variable = 0;
  /// By value of the auxiliary variable: the forms that exist. The first one is
  /// the produced form; the others ascend.
  std::vector<std::vector<uint32_t>> made;
};

/// Adds the cost of a shared value to the graph.
///
/// A pair of producer and each user would pay a shared reshard once per user.
/// Therefore an auxiliary variable is added. Each of its values is a set of
/// forms that exist: the produced form and further ones, each made from the
/// cheapest form that exists before. The forms of the set are paid once, and
/// every user reads, or makes, its form from the cheapest form of the set. The
/// graph stays as sparse as before: producer - auxiliary - each user. With a
/// single user a plain pair is added; without users nothing is.
///
/// The result is exact if sets may have one form less than there are users: the
/// form of the last user can be made by that user at equal cost. Sets with at
/// most one further form are always included. Larger sets are included, size by
/// size, while the variable has at most `maxValues` values; a form that is in
/// no set is then paid per user. Sets whose forms cost `bound` or more are left
/// out.
SharedForms addSharedValue(CostGraph &graph, const SharedValue &value,
                           const Cost &bound = Cost::forbidden(),
                           size_t maxValues = 256);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_COSTGRAPH_H
