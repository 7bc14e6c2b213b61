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

/// Cost of one value of a variable, for example of one sharding strategy of an
/// op. To compare two costs, the operator < compares their penalties. If the
/// penalties are equal, it compares the times, then the bytes, then the calls,
/// and then the memory. The operators + and - work on each member separately.
struct Cost {
  /// Sum of penalties for undesired properties, such as a weight that is not
  /// sharded. Infinite if the value of the variable is forbidden.
  double penalty = 0;
  /// Bytes that a rank receives.
  double bytes = 0;
  /// Number of calls of collectives.
  double calls = 0;
  /// Bytes of memory on one rank.
  double memory = 0;
  /// Modeled time in picoseconds. The time is computed from a cluster profile,
  /// which gives the bandwidths and the speeds of the devices. The time is 0 if
  /// there is no cluster profile.
  double picoseconds = 0;

  /// Returns the cost of a forbidden value of a variable, such as a forbidden
  /// sharding of an op.
  static constexpr Cost forbidden() {
    return {std::numeric_limits<double>::infinity(), 0, 0, 0, 0};
  }
  bool isForbidden() const {
    return penalty == std::numeric_limits<double>::infinity();
  }

  /// Returns whether there is no penalty, no time and no communication. The
  /// memory may be above zero.
  bool isFree() const {
    return penalty == 0 && picoseconds == 0 && bytes == 0 && calls == 0;
  }

  /// Returns the cost if everything is executed `count` times. Time, bytes and
  /// calls are multiplied. Penalty and memory stay as they are.
  Cost times(double count) const {
    return {penalty, bytes * count, calls * count, memory, picoseconds * count};
  }

  Cost &operator+=(const Cost &other) {
    penalty += other.penalty;
    bytes += other.bytes;
    calls += other.calls;
    memory += other.memory;
    picoseconds += other.picoseconds;
    return *this;
  }
  friend Cost operator+(Cost a, const Cost &b) { return a += b; }
  friend Cost operator-(const Cost &a, const Cost &b) {
    return {a.penalty - b.penalty, a.bytes - b.bytes, a.calls - b.calls,
            a.memory - b.memory, a.picoseconds - b.picoseconds};
  }
  friend bool operator<(const Cost &a, const Cost &b) {
    if (a.penalty != b.penalty)
      return a.penalty < b.penalty;
    if (a.picoseconds != b.picoseconds)
      return a.picoseconds < b.picoseconds;
    if (a.bytes != b.bytes)
      return a.bytes < b.bytes;
    if (a.calls != b.calls)
      return a.calls < b.calls;
    return a.memory < b.memory;
  }
  friend bool operator==(const Cost &, const Cost &) = default;
};

/// A decision with finitely many values, which are numbered from 0, such as the
/// strategy of an op. Variables are numbered from 0 in the order of
/// addVariable.
using Variable = uint32_t;

/// Minimization problem over variables with finitely many values, such as the
/// strategies of an op. The total cost of a solution is the sum of the unary
/// costs of its values and of the pairwise costs of its pairs of values.
/// minimise() (Eliminate.h) finds the solution with the least total cost.
class CostGraph {
public:
  /// Costs of all pairs of values of the variables `a` and `b`. The costs are
  /// in row-major order: one row for each value of `a`, and one column for each
  /// value of `b`. For example, let `a` have 2 values and let `b` have 3
  /// values. `table` then has 6 costs. table[0] is the cost of a = 0 and b = 0.
  /// table[4] is the cost of a = 1 and b = 1, because row 1 begins at table[3].
  struct Pair {
    Variable a, b;
    std::vector<Cost> table;
  };

  /// Adds a variable with unary.size() values and returns its number. unary[i]
  /// is the cost of value i.
  Variable addVariable(std::vector<Cost> unary);

  /// Adds a cost for each pair of values of the variables `a` and `b`. `table`
  /// is row-major, with one row for each value of `a`. The costs of several
  /// calls add up. If `a` and `b` are the same variable, only pairs of equal
  /// values count.
  void addPair(Variable a, Variable b, const std::vector<Cost> &table);

  /// Adds a cost for each pair of values of the variables `a` and `b`. `cost`
  /// is a function: cost(i, j) returns the cost of a = i and b = j. The costs
  /// of several calls for the same variables add up. If `a` and `b` are the
  /// same variable, only the costs with i = j count.
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
  /// Returns all pairs of variables that have common costs. Each pair occurs
  /// once. The two variables of a pair differ.
  const std::vector<Pair> &pairs() const { return allPairs; }

  /// Returns the total cost if each variable v has the value values[v].
  Cost evaluate(const std::vector<uint32_t> &values) const;

private:
  std::vector<std::vector<Cost>> unaries;
  std::vector<Pair> allPairs;
  /// For each pair of variables that have common costs: the index of the pair
  /// in `allPairs`. In a key of this map, the variable with the smaller number
  /// comes first. For example, pairIndex[{2, 5}] is the index of the costs that
  /// the variables 2 and 5 have in common.
  std::map<std::pair<Variable, Variable>, size_t> pairIndex;
};

/// A tensor that several ops (users) read, each in some sharding. A reshard to
/// one sharding is paid once, even if several users need this sharding.
struct SharedValue {
  /// Variable of the cost graph. Its value decides in which sharding the
  /// producer makes the tensor. The producer is the op that computes the
  /// tensor, or an input of the model.
  Variable producer;
  /// For each value of the variable `producer`: the number of the sharding in
  /// which the tensor is then produced. Example: `producedForm` is {2, 0}. If
  /// `producer` has the value 0, the tensor is produced in sharding 2. If
  /// `producer` has the value 1, the tensor is produced in sharding 0.
  std::vector<uint32_t> producedForm;
  struct User {
    /// Variable of the cost graph that belongs to one op. This op reads the
    /// tensor. The value of the variable decides in which sharding the op needs
    /// the tensor.
    Variable variable;
    /// For each value of `variable`: the number of the sharding in which the op
    /// then needs the tensor. Example: `wantedForm` is {2, 0}. If `variable`
    /// has the value 0, the op needs the tensor in sharding 2. If `variable`
    /// has the value 1, the op needs the tensor in sharding 0.
    std::vector<uint32_t> wantedForm;
  };
  std::vector<User> users;
  /// Costs of the reshards of the tensor, whose shardings are numbered.
  /// reform[from][to] is the cost of the reshard from sharding `from` to
  /// sharding `to`. The cost is zero if `from` and `to` are equal. If
  /// reform[from] is empty, no reshard may start from `from`. It must not be
  /// empty if the producer of the tensor can make `from`.
  std::vector<std::vector<Cost>> reform;
};

/// Result of addSharedValue.
struct SharedForms {
  /// Whether addSharedValue has added a variable to the cost graph. It adds one
  /// variable if the tensor has two or more users. A user is an op that reads
  /// the tensor.
  bool hasVariable = false;
  /// The variable that addSharedValue has added to the cost graph. A value of
  /// this variable selects the set of shardings in which the tensor is made.
  /// `made` lists the set for each value.
  Variable variable = 0;
  /// made[k] is the set of shardings that value k of `variable` selects, given
  /// by their numbers. The producer makes the first sharding of the set.
  /// Reshards make the other shardings, whose numbers ascend. For example, {5,
  /// 1, 3} means: the producer makes sharding 5, and reshards make the
  /// shardings 1 and 3.
  std::vector<std::vector<uint32_t>> made;
};

/// Adds the costs of the reshards of the tensor `value` to `graph`. With
/// several users, a new variable selects a set of shardings, and a common
/// reshard counts once. Leaves out sets that cost `bound` or more. Also leaves
/// out large sets: sets of n or more shardings (n >= 3) if there are more than
/// `maxValues` sets of at most n shardings. The cheapest solution may need a
/// set that was left out.
SharedForms addSharedValue(CostGraph &graph, const SharedValue &value,
                           const Cost &bound = Cost::forbidden(),
                           size_t maxValues = 256);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_COSTGRAPH_H
