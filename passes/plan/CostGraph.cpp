//===- CostGraph.cpp - decisions that are priced alone and in pairs -------===//

#include "passes/plan/CostGraph.h"

#include <algorithm>
#include <set>

namespace pcc::plan {

Variable CostGraph::addVariable(std::vector<Cost> unary) {
  unaries.push_back(std::move(unary));
  return static_cast<Variable>(unaries.size() - 1);
}

void CostGraph::addPair(Variable a, Variable b,
                        const std::vector<Cost> &table) {
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
  Cost total;
  for (size_t v = 0; v < unaries.size(); ++v)
    total += unaries[v][values[v]];
  for (const Pair &pair : allPairs)
    total += pair.table[values[pair.a] * domain(pair.b) + values[pair.b]];
  return total;
}

SharedForms addSharedValue(CostGraph &graph, const SharedValue &value) {
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

  std::set<uint32_t> produced(value.producedForm.begin(),
                              value.producedForm.end());
  std::set<uint32_t> wanted;
  for (const SharedValue::User &user : value.users)
    wanted.insert(user.wantedForm.begin(), user.wantedForm.end());
  // The produced form alone comes first, so that ties keep no second form.
  std::vector<Cost> unary;
  for (uint32_t from : produced) {
    forms.made.push_back({from, from});
    unary.push_back({});
    for (uint32_t to : wanted) {
      if (to == from || value.reform[from][to].isForbidden())
        continue;
      forms.made.push_back({from, to});
      unary.push_back(value.reform[from][to]);
    }
  }
  forms.hasVariable = true;
  forms.variable = graph.addVariable(std::move(unary));
  graph.addPairs(value.producer, forms.variable, [&](size_t i, size_t v) {
    return forms.made[v].first == value.producedForm[i] ? Cost()
                                                        : Cost::forbidden();
  });
  for (const SharedValue::User &user : value.users)
    graph.addPairs(forms.variable, user.variable, [&](size_t v, size_t j) {
      const auto &[from, second] = forms.made[v];
      return std::min(value.reform[from][user.wantedForm[j]],
                      value.reform[second][user.wantedForm[j]]);
    });
  return forms;
}

} // namespace pcc::plan
