//===- CostGraph.h - decisions that are priced alone and in pairs ---------===//

#ifndef PCC_PASSES_PLAN_SEARCH_COSTGRAPH_H
#define PCC_PASSES_PLAN_SEARCH_COSTGRAPH_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace pcc::plan {

/// What a choice costs, most important part first. Costs add component-wise
/// and compare lexicographically: any penalty outweighs all bytes.
struct Cost {
  double penalty = 0;
  double bytes = 0;
  double calls = 0;
  double memory = 0;
  /// Comes before bytes; 0 where only bytes are known.
  double seconds = 0;

  /// The cost of what must not be chosen.
  static constexpr Cost forbidden() {
    return {std::numeric_limits<double>::infinity(), 0, 0, 0, 0};
  }
  bool isForbidden() const {
    return penalty == std::numeric_limits<double>::infinity();
  }

  /// Nothing is communicated, and nothing had to be broken for that.
  bool isFree() const {
    return penalty == 0 && seconds == 0 && bytes == 0 && calls == 0;
  }

  /// Of what happens so often; a rule is broken once.
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

/// A decision with finitely many values 0, 1, …; numbered in creation order.
using Variable = uint32_t;

/// Minimise the sum of unary and pairwise costs over discrete variables.
///
/// In 4-shard a variable is an op (value = which factor takes the axis) or a
/// tensor (value = its sharding), a pair is an edge of the graph priced as a
/// reshard (Alpa).
class CostGraph {
public:
  /// The costs of a pair, row-major: entry [i * domain(b) + j] for a = i, b =
  /// j.
  struct Pair {
    Variable a, b;
    std::vector<Cost> table;
  };

  /// A variable with one value per element.
  Variable addVariable(std::vector<Cost> unary);

  /// Adds to the price of a value.
  void addUnary(Variable variable, size_t value, const Cost &cost) {
    unaries[variable][value] += cost;
  }

  /// Adds to the price of every pair of values. Pairs that were added before,
  /// in either direction, are added up; a == b prices the diagonal.
  void addPair(Variable a, Variable b, const std::vector<Cost> &table);

  /// The same with a callback: `cost(i, j)` for a = i, b = j.
  template <typename Fn> void addPairs(Variable a, Variable b, Fn &&cost) {
    std::vector<Cost> table;
    table.reserve(domain(a) * domain(b));
    for (size_t i = 0; i < domain(a); ++i)
      for (size_t j = 0; j < domain(b); ++j)
        table.push_back(cost(i, j));
    addPair(a, b, table);
  }

  size_t numVariables() const { return unaries.size(); }
  size_t domain(Variable variable) const { return unaries[variable].size(); }
  const std::vector<Cost> &unary(Variable variable) const {
    return unaries[variable];
  }
  const std::vector<Pair> &pairs() const { return allPairs; }

  /// Total cost when variable v has values[v].
  Cost evaluate(const std::vector<uint32_t> &values) const;

private:
  std::vector<std::vector<Cost>> unaries;
  std::vector<Pair> allPairs;
  /// Index into `allPairs` of each pair with a < b.
  std::map<std::pair<Variable, Variable>, size_t> pairIndex;
};

/// A value with several users, each of which wants it in some form (sharding).
/// Changing the form costs once per form, however many users share it.
struct SharedValue {
  /// The variable that decides the produced form, and the form of each of its
  /// values.
  Variable producer;
  std::vector<uint32_t> producedForm;
  struct User {
    Variable variable;
    /// The form that each value of the variable wants.
    std::vector<uint32_t> wantedForm;
  };
  std::vector<User> users;
  /// reform[from][to]: price of one change of form; zero on the diagonal.
  std::vector<std::vector<Cost>> reform;
};

/// Adds the cost of a value with several users to the graph.
///
/// A sum over users would pay a shared reshard once per user. Therefore an
/// auxiliary variable holds the produced form and a set of further forms that
/// are kept beside it, each made from the cheapest of those before; they are
/// paid once, and every user takes the cheapest of all. Exact if the sets may
/// be as large as one less than there are users: the last form is as cheap for
/// the one user that wants it. Larger sets come last, and are left out where
/// the variable would get more than `maxValues` values; then a form beyond the
/// set is paid per user. Sets that cost `bound` or more are left out, too. The
/// graph stays as sparse as it was: producer - auxiliary - each user.
///
/// With a single user, a plain pair is added and nothing is returned; otherwise
/// the auxiliary variable is, whose value `v` means the forms made[v], the
/// produced one first.
struct SharedForms {
  bool hasVariable = false;
  Variable variable = 0;
  std::vector<std::vector<uint32_t>> made;
};
SharedForms addSharedValue(CostGraph &graph, const SharedValue &value,
                           const Cost &bound = Cost::forbidden(),
                           size_t maxValues = 256);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_COSTGRAPH_H
