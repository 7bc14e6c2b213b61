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

/// Cost of a choice. The sum of two costs adds each member. Two costs are
/// compared by penalty first; if it is equal, by seconds, then by bytes, then
/// by calls, then by memory. Thus a penalty outweighs any number of seconds.
struct Cost {
  /// Weighted number of broken rules; infinite if the choice is forbidden.
  double penalty = 0;
  /// Bytes that a rank receives.
  double bytes = 0;
  /// Number of calls of collectives.
  double calls = 0;
  /// Bytes of memory on one rank.
  double memory = 0;
  /// Modelled time in seconds; 0 if only bytes are priced.
  double seconds = 0;

  /// Returns the cost that forbids a choice: a value of a variable, or a pair
  /// of values of two variables.
  static constexpr Cost forbidden() {
    return {std::numeric_limits<double>::infinity(), 0, 0, 0, 0};
  }
  bool isForbidden() const {
    return penalty == std::numeric_limits<double>::infinity();
  }

  /// Returns whether the choice breaks no rule, takes no time and does not
  /// communicate. It may need memory.
  bool isFree() const {
    return penalty == 0 && seconds == 0 && bytes == 0 && calls == 0;
  }

  /// Returns the cost of repeating the choice `count` times. Penalty and memory
  /// are not multiplied: a rule is broken once, and the repetitions use the
  /// same memory.
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

/// A decision with finitely many values 0, 1, …, such as the choice of a
/// strategy for an op. Variables of a graph are numbered from 0 in the order of
/// addVariable.
using Variable = uint32_t;

/// A function of discrete variables: the sum of a cost for the value of each
/// variable (unary cost) and of a cost for the values of certain pairs of
/// variables (pairwise cost). `minimise` (Eliminate.h) finds the values with
/// the least sum.
class CostGraph {
public:
  /// Costs of all pairs of values of the variables `a` and `b`. Entry i *
  /// domain(b) + j of `table` is the cost of a = i and b = j.
  struct Pair {
    Variable a, b;
    std::vector<Cost> table;
  };

  /// Adds a variable and returns its number. unary[i] is the cost of its value
  /// i, so the variable has unary.size() values.
  Variable addVariable(std::vector<Cost> unary);

  /// Adds `table`, in the layout of Pair::table, to the pairwise costs of `a`
  /// and `b`. If the graph has costs for (a, b) or (b, a) already, the new
  /// costs are added to them. If a == b, the diagonal of the table is added to
  /// the unary costs of `a`.
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
  /// Returns all pairs of variables with pairwise costs. Each pair is listed
  /// once, and a != b.
  const std::vector<Pair> &pairs() const { return allPairs; }

  /// Returns the total cost if each variable v has the value values[v].
  Cost evaluate(const std::vector<uint32_t> &values) const;

private:
  std::vector<std::vector<Cost>> unaries;
  std::vector<Pair> allPairs;
  /// Index in `allPairs` of each pair of variables. In the key, the variable
  /// with the lower number comes first.
  std::map<std::pair<Variable, Variable>, size_t> pairIndex;
};

/// A value (tensor) that several users (ops) read. Each user needs the value in
/// some form (sharding). A change of form (reshard) is paid once per form, even
/// if several users read that form.
struct SharedValue {
  /// The variable that decides in which form (sharding) the value is produced.
  Variable producer;
  /// For each value of the variable `producer`: number of the form (sharding)
  /// that it produces.
  std::vector<uint32_t> producedForm;
  struct User {
    /// The variable that decides which form (sharding) this user (op that reads
    /// the value) needs.
    Variable variable;
    /// For each value of `variable`, the number of the form (sharding) that
    /// this user (op that reads the value) needs.
    std::vector<uint32_t> wantedForm;
  };
  std::vector<User> users;
  /// reform[from][to] is the cost of making form (sharding) `to` from form
  /// `from`; zero if both are equal.
  std::vector<std::vector<Cost>> reform;
};

/// Result of addSharedValue.
struct SharedForms {
  /// Whether addSharedValue has added an auxiliary variable to the graph. False
  /// if the value has at most one user, because no variable is needed then.
  bool hasVariable = false;
  /// The auxiliary variable.
  Variable variable = 0;
  /// For each value of the auxiliary variable: the list of the forms
  /// (shardings) that are made. The first one is the form that the producer
  /// makes. The further forms are in ascending order.
  std::vector<std::vector<uint32_t>> made;
};

/// Adds the cost of a shared value (a tensor with several users) to the graph.
///
/// Users can share the result of a reshard to one form (sharding). Pairwise
/// costs of the producer with each user would count this reshard once per user.
/// Therefore an auxiliary variable is added. Each value of this variable stands
/// for a set of forms that are made:
///  - The first form is that of the producer. Each further form is made from
///    the cheapest form that exists before.
///  - The unary cost is the cost of making the whole set.
///  - A user reads its form from the set. If the set lacks the form, the user
///    makes it from the cheapest form of the set.
///
/// The graph stays sparse: the auxiliary variable is paired with the producer
/// and with each user. If there is a single user, no variable is added, but one
/// pair. If there are no users, nothing is added.
///
/// `maxValues` limits the number of sets. Sets with one further form are always
/// included. Larger sets are included, size by size, as long as the variable
/// has at most `maxValues` values. Sets whose forms cost `bound` or more are
/// left out. A form that is in no set is paid once per user.
///
/// The minimum is exact if all sets of up to users.size() forms are included,
/// the form of the producer counted. Larger sets are not needed, because the
/// last user can make its form itself at equal cost.
SharedForms addSharedValue(CostGraph &graph, const SharedValue &value,
                           const Cost &bound = Cost::forbidden(),
                           size_t maxValues = 256);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_COSTGRAPH_H
