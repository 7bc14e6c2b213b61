//===- CostGraph.h - unary and pairwise costs over discrete variables -----===//
//
// Discrete optimization problem: minimize a sum of costs that depend on one
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

/// Cost of a choice. Costs are compared by penalty first, then by seconds,
/// bytes, calls and memory. Sums add each member.
struct Cost {
  /// Sum of penalties for undesired properties of the choice, such as a weight
  /// that is not sharded. Infinite if the choice is forbidden.
  double penalty = 0;
  /// Bytes that a rank receives.
  double bytes = 0;
  /// Number of calls of collectives.
  double calls = 0;
  /// Bytes of memory on one rank.
  double memory = 0;
  /// Modeled time in seconds; 0 if only bytes are priced.
  double seconds = 0;

  /// Returns the cost of a forbidden choice.
  static constexpr Cost forbidden() {
    return {std::numeric_limits<double>::infinity(), 0, 0, 0, 0};
  }
  bool isForbidden() const {
    return penalty == std::numeric_limits<double>::infinity();
  }

  /// Returns whether the choice has no penalty, takes no time and does not
  /// communicate. It may need memory.
  bool isFree() const {
    return penalty == 0 && seconds == 0 && bytes == 0 && calls == 0;
  }

  /// Returns the cost if everything is executed `count` times. Time, bytes and
  /// calls are multiplied. Penalty and memory stay as they are.
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

/// A decision with finitely many values 0, 1, …, such as the strategy of an op.
/// Variables are numbered from 0 in the order of addVariable.
using Variable = uint32_t;

/// A function of discrete variables: a sum of costs for values of one variable
/// (unary) and of pairs of variables (pairwise). `minimise` (Eliminate.h) finds
/// the values with the least sum.
class CostGraph {
public:
  /// Costs of all pairs of values of the variables `a` and `b`. table[i *
  /// domain(b) + j] is the cost of a = i and b = j.
  struct Pair {
    Variable a, b;
    std::vector<Cost> table;
  };

  /// Adds a variable with unary.size() values and returns its number. unary[i]
  /// is the cost of value i.
  Variable addVariable(std::vector<Cost> unary);

  /// Adds a cost for each pair of values of `a` and `b`. table[i * domain(b) +
  /// j] is the cost of a = i and b = j. Costs from several calls for the same
  /// variables add up. If a == b, only the entries with i = j count.
  void addPair(Variable a, Variable b, const std::vector<Cost> &table);

  /// Calls addPair with the costs cost(i, j) of a = i and b = j.
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
  /// Returns all pairs of variables with pairwise costs, each once, with a !=
  /// b.
  const std::vector<Pair> &pairs() const { return allPairs; }

  /// Returns the total cost if each variable v has the value values[v].
  Cost evaluate(const std::vector<uint32_t> &values) const;

private:
  std::vector<std::vector<Cost>> unaries;
  std::vector<Pair> allPairs;
  /// Index in `allPairs` of each pair of variables, lower number first.
  std::map<std::pair<Variable, Variable>, size_t> pairIndex;
};

/// A tensor that several ops (users) read, each in some form (sharding). A
/// change of form (reshard) is paid once per form, even if several users need
/// it.
struct SharedValue {
  /// The variable that decides the form (sharding) in which the value is
  /// produced.
  Variable producer;
  /// For each value of `producer`: number of the form (sharding) that is
  /// produced.
  std::vector<uint32_t> producedForm;
  struct User {
    /// The variable that decides which form (sharding) this user needs.
    Variable variable;
    /// For each value of `variable`: number of the form (sharding) that this
    /// user needs.
    std::vector<uint32_t> wantedForm;
  };
  std::vector<User> users;
  /// reform[from][to]: cost of making form (sharding) `to` from form `from`;
  /// zero if equal. An empty list reform[from] says that no other form may be
  /// made from form `from`. The lists of produced forms must not be empty.
  std::vector<std::vector<Cost>> reform;
};

/// Result of addSharedValue.
struct SharedForms {
  /// Whether addSharedValue has added a variable to the graph. It adds one if
  /// the value has two or more users.
  bool hasVariable = false;
  /// The variable that addSharedValue has added. Its value decides in which
  /// forms (shardings) the shared value is made.
  Variable variable = 0;
  /// For each value of `variable`: the forms (shardings) in which the shared
  /// value is made. The first one is the form of the producer. The others
  /// ascend.
  std::vector<std::vector<uint32_t>> made;
};

/// Adds the reshards of a shared value (a tensor with several users) to the
/// costs of the graph. Users that need equal forms (shardings) share one
/// reshard, so it must be counted once. Therefore the function adds a variable.
/// Each of its values is a set of forms that are made:
///  - The first form of a set is the producer's. Each further form is made from
///    the cheapest earlier one. The unary cost is the sum of these reshards.
///  - A user that needs a form outside of the set makes it from the cheapest
///    form of the set. This is a pairwise cost.
///
/// Parameters that limit the number of sets:
///  - `maxValues`: sets of one or two forms are always included. Larger sets
///    are included, size by size, as long as there are at most `maxValues`
///    sets.
///  - `bound`: sets that cost as much or more are left out.
///
/// Without these limits, the least total cost is exact.
SharedForms addSharedValue(CostGraph &graph, const SharedValue &value,
                           const Cost &bound = Cost::forbidden(),
                           size_t maxValues = 256);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_COSTGRAPH_H
