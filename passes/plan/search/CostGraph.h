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
  /// Returns all pairs of variables that have common costs. Each pair occurs
  /// once. The two variables of a pair differ.
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
  /// The variable of the cost graph that decides in which form the tensor is
  /// produced. A form is a sharding of the tensor.
  Variable producer;
  /// For each value of the variable `producer`: the number of the form in which
  /// the tensor is then produced. A form is a sharding of the tensor. Example:
  /// `producedForm` is {2, 0}. If `producer` has the value 0, the tensor is
  /// produced in form 2. If `producer` has the value 1, the tensor is produced
  /// in form 0.
  std::vector<uint32_t> producedForm;
  struct User {
    /// The variable that decides which form (sharding) this user needs.
    Variable variable;
    /// For each value of `variable`: number of the form (sharding) that this
    /// user needs.
    std::vector<uint32_t> wantedForm;
  };
  std::vector<User> users;
  /// Costs of the reshards of the tensor. A form is a sharding of the tensor,
  /// given by its number. reform[from][to] is the cost of the reshard that
  /// makes form `to` from form `from`. The cost is zero if `from` and `to` are
  /// equal. If the list reform[from] is empty, no reshard may start from form
  /// `from`. The list must not be empty if the producer of the tensor can make
  /// form `from`.
  std::vector<std::vector<Cost>> reform;
};

/// Result of addSharedValue.
struct SharedForms {
  /// Whether addSharedValue has added a variable to the cost graph. It adds one
  /// variable if the tensor has two or more users. A user is an op that reads
  /// the tensor.
  bool hasVariable = false;
  /// The variable that addSharedValue has added to the cost graph. A value of
  /// this variable selects the set of forms in which the tensor is made. A form
  /// is a sharding of the tensor. `made` lists the set for each value.
  Variable variable = 0;
  /// made[k] is the set of forms that value k of `variable` selects. A form is
  /// a sharding of the tensor, given by its number. The producer makes the
  /// first form of the set. Reshards make the other forms, whose numbers
  /// ascend. For example, {5, 1, 3} means: the producer makes form 5, and
  /// reshards make the forms 1 and 3.
  std::vector<std::vector<uint32_t>> made;
};

/// Adds the costs of the reshards of a tensor to a cost graph. A form is a
/// sharding of the tensor, given by its number. A reshard makes one form from
/// another form. A user is an op that reads the tensor. Each user needs the
/// tensor in one form.
///
/// If two users need the same form, one reshard serves both, and its cost must
/// be counted once. The function therefore adds a variable to the graph if the
/// tensor has two or more users. Each value of this variable selects a set of
/// forms, for example {5, 1}:
///
///  - The producer of the tensor makes the first form of the set (5). The value
///    is forbidden if the producer makes a different form. Reshards make the
///    other forms (1). The unary cost of the value is the sum of the costs of
///    these reshards.
///  - A user can need a form that is not in the set, for example form 2. A
///    further reshard makes form 2 from form 5 or from form 1, whichever costs
///    less. The cost of this reshard is a pairwise cost of the new variable and
///    of the user's variable.
///
/// If the tensor has only one user, the function adds no variable. It then adds
/// the cost of one reshard, from the produced form to the needed form. This
/// cost is a pairwise cost of the producer's variable and of the user's
/// variable.
///
/// Sets that cannot lower the total cost are left out. Two parameters limit the
/// number of the other sets:
///
///  - `maxValues`: the variable has the sets of one form and of two forms. It
///    has the sets of three forms only if there are then at most `maxValues`
///    sets in total. If so, the sets of four forms are treated by the same
///    rule, and so on.
///  - `bound`: a set that costs `bound` or more is left out.
///
/// If these parameters leave out a set that the best solution needs, the least
/// total cost of the graph becomes larger.
SharedForms addSharedValue(CostGraph &graph, const SharedValue &value,
                           const Cost &bound = Cost::forbidden(),
                           size_t maxValues = 256);

} // namespace pcc::plan

#endif // PCC_PASSES_PLAN_SEARCH_COSTGRAPH_H
