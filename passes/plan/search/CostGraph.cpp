//===- CostGraph.cpp - unary and pairwise costs over discrete variables ---===//

#include "passes/plan/search/CostGraph.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace pcc::plan {

Variable CostGraph::addVariable(std::vector<Cost> unary) {
  assert(!unary.empty() && "a variable without values");
  unaries.push_back(std::move(unary));
  return static_cast<Variable>(unaries.size() - 1);
}

void CostGraph::addPair(Variable a, Variable b,
                        const std::vector<Cost> &table) {
  assert(a < unaries.size() && b < unaries.size() && "unknown variable");
  assert(table.size() == domain(a) * domain(b) &&
         "one cost per pair of values");
  const size_t rows = domain(a), columns = domain(b);
  if (a == b) {
    for (size_t i = 0; i < rows; ++i)
      unaries[a][i] += table[i * columns + i];
    return;
  }
  const auto key = std::minmax(a, b);
  auto [found, isNew] =
      pairIndex.try_emplace({key.first, key.second}, allPairs.size());
  if (isNew) {
    allPairs.push_back({a, b, table});
    return;
  }
  Pair &pair = allPairs[found->second];
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      pair.table[pair.a == a ? i * columns + j : j * rows + i] +=
          table[i * columns + j];
}

Cost CostGraph::evaluate(const std::vector<uint32_t> &values) const {
  assert(values.size() == unaries.size() && "one value per variable");
  Cost total;
  for (size_t v = 0; v < unaries.size(); ++v)
    total += unaries[v][values[v]];
  for (const Pair &pair : allPairs)
    total += pair.table[values[pair.a] * domain(pair.b) + values[pair.b]];
  return total;
}

/// Returns the cost of a reshard of the tensor `value` from sharding number
/// `from` to sharding number `to`. The cost is zero if `from` and `to` are
/// equal. The cost is Cost::forbidden() if no reshard from `from` may be made.
static Cost reformCost(const SharedValue &value, uint32_t from, uint32_t to) {
  if (from == to)
    return {};
  const std::vector<Cost> &costs = value.reform[from];
  return costs.empty() ? Cost::forbidden() : costs[to];
}

namespace {
/// Lists sets of shardings in which a tensor with several users can be stored.
/// The producer of the tensor makes the first sharding of a set. Reshards make
/// the other shardings. The cost of a set is the sum of the costs of its
/// reshards. Each set becomes one value of a variable of the cost graph
/// (addSharedValue()).
class KeptForms {
public:
  KeptForms(const SharedValue &value, const Cost &bound)
      : value(value), bound(bound) {
    produced.insert(value.producedForm.begin(), value.producedForm.end());
    for (const SharedValue::User &user : value.users) {
      const std::set<uint32_t> forms(user.wantedForm.begin(),
                                     user.wantedForm.end());
      wantedBy.emplace_back(forms.begin(), forms.end());
      wanted.insert(forms.begin(), forms.end());
    }
  }

  /// Fills `made` with sets of shardings, and `costs` with the costs of their
  /// reshards. Smaller sets must come first, because `minimise` selects the
  /// first of two sets with equal total costs. If the sets of n >= 3 shardings
  /// would make `made` longer than `maxValues`, leaves out these sets and all
  /// larger ones.
  void enumerate(size_t maxValues) {
    for (uint32_t from : produced)
      add({from}, {});
    size_t begin = 0;
    for (size_t size = 1; size < value.users.size(); ++size) {
      const size_t end = made.size();
      if (size > 1 && end > maxValues)
        return;
      for (size_t i = begin; i < end; ++i)
        extend(i);
      if (size > 1 && made.size() > maxValues) {
        made.resize(end);
        costs.resize(end);
        return;
      }
      begin = end;
    }
  }

  /// Two lists of equal length. made[i] is a set of shardings, given by their
  /// numbers. The producer of the tensor makes the first sharding of the set,
  /// and reshards make the other shardings. costs[i] is the cost of these
  /// reshards. For example, {5, 1, 3} means that the producer makes sharding 5,
  /// and two reshards make the shardings 1 and 3.
  std::vector<std::vector<uint32_t>> made;
  std::vector<Cost> costs;

private:
  void add(std::vector<uint32_t> forms, const Cost &cost) {
    made.push_back(std::move(forms));
    costs.push_back(cost);
  }

  /// Returns the cost of the cheapest reshard that makes sharding number `to`
  /// from a sharding of the set made[index]. The cost is zero if `to` is in the
  /// set. The cost is Cost::forbidden() if no reshard may start from a sharding
  /// of the set.
  Cost priceOf(size_t index, uint32_t to) const {
    Cost least = Cost::forbidden();
    for (uint32_t from : made[index])
      least = std::min(least, reformCost(value, from, to));
    return least;
  }

  /// Returns whether adding the sharding `form` to a set can lower the total
  /// cost. The reshard that makes `form` must cost less than the users of the
  /// tensor can save together. A user saves if the reshard to the sharding that
  /// it needs is cheaper from `form` than from the set. If a user can need
  /// several shardings, its largest saving counts. prices[f] is the cost of the
  /// cheapest reshard from the set to sharding f.
  bool isUseful(uint32_t form, const std::map<uint32_t, Cost> &prices) const {
    Cost saved;
    for (const std::vector<uint32_t> &forms : wantedBy) {
      Cost most;
      for (uint32_t other : forms) {
        const Cost &before = prices.at(other);
        const Cost &after = value.reform[form][other];
        if (after < before)
          most = std::max(most, before.isForbidden() ? before : before - after);
      }
      saved += most;
    }
    return prices.at(form) < saved;
  }

  /// Extends the set made[index] by each sharding that a user can need, and
  /// appends each new set that is useful. For example, {5, 1} and the shardings
  /// 2 and 3 give {5, 1, 2} and {5, 1, 3}. Leaves out sets that cost `bound` or
  /// more, and a sharding from which no reshard may start. If the new set
  /// exists already, it gets the smaller cost.
  void extend(size_t index) {
    std::map<uint32_t, Cost> prices;
    for (uint32_t form : wanted)
      prices[form] = priceOf(index, form);
    for (uint32_t form : wanted) {
      if (value.reform[form].empty())
        continue;
      std::vector<uint32_t> forms = made[index];
      if (std::find(forms.begin(), forms.end(), form) != forms.end())
        continue;
      const Cost cost = costs[index] + prices[form];
      if (!(cost < bound) || !isUseful(form, prices))
        continue;
      forms.insert(std::upper_bound(forms.begin() + 1, forms.end(), form),
                   form);
      auto [known, isNew] = indexOf.try_emplace(forms, made.size());
      if (isNew)
        add(std::move(forms), cost);
      else
        costs[known->second] = std::min(costs[known->second], cost);
    }
  }

  const SharedValue &value;
  const Cost &bound;
  /// Numbers of the shardings that the producer of the tensor can make.
  std::set<uint32_t> produced;
  /// Numbers of all shardings that at least one user of the tensor (op that
  /// reads it) can need. For example, if one user can need the shardings 1 and
  /// 3, and another user can need the shardings 0 and 1, `wanted` is {0, 1, 3}.
  std::set<uint32_t> wanted;
  /// For each user of the tensor (op that reads it): a list of shardings. The
  /// user needs the tensor in one sharding of its list. The user's strategy,
  /// which is not known here, determines this sharding. Each sharding occurs
  /// once in a list.
  std::vector<std::vector<uint32_t>> wantedBy;
  /// Maps a set of shardings of the tensor to the index i for which made[i] is
  /// this set. The map contains all sets in `made` that have two or more
  /// shardings.
  std::map<std::vector<uint32_t>, size_t> indexOf;
};
} // namespace

SharedForms addSharedValue(CostGraph &graph, const SharedValue &value,
                           const Cost &bound, size_t maxValues) {
  SharedForms forms;
  if (value.users.size() == 1) {
    const SharedValue::User &user = value.users.front();
    graph.addPairs(value.producer, user.variable, [&](size_t i, size_t j) {
      return value.reform[value.producedForm[i]][user.wantedForm[j]];
    });
    return forms;
  }
  if (value.users.empty())
    return forms;

  KeptForms kept(value, bound);
  kept.enumerate(maxValues);
  forms.hasVariable = true;
  forms.made = std::move(kept.made);
  forms.variable = graph.addVariable(std::move(kept.costs));
  graph.addPairs(value.producer, forms.variable, [&](size_t i, size_t v) {
    return forms.made[v].front() == value.producedForm[i] ? Cost()
                                                          : Cost::forbidden();
  });
  for (const SharedValue::User &user : value.users)
    graph.addPairs(forms.variable, user.variable, [&](size_t v, size_t j) {
      Cost least = Cost::forbidden();
      for (uint32_t form : forms.made[v])
        least = std::min(least, reformCost(value, form, user.wantedForm[j]));
      return least;
    });
  return forms;
}

} // namespace pcc::plan
