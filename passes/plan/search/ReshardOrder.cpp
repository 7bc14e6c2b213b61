//===- ReshardOrder.cpp - order of the reshards of one value --------------===//

#include "passes/plan/search/ReshardOrder.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace pcc;
using plan::ReshardOrder;

/// Returns the steps that make the forms of a value in the order `sequence`,
/// and the sum of their costs. A form is a sharding of the value. A source is
/// the value itself or a form that an earlier step has made. Each step makes a
/// form from the cheapest source. reform[s][form] is the cost of making `form`
/// from source s. Source 0 is the value itself. Source i + 1 is form i.
static ReshardOrder
priceOrder(const std::vector<std::vector<plan::Cost>> &reform,
           const std::vector<size_t> &sequence) {
  ReshardOrder order;
  // Sources from which the next form can be made: the value itself, and each
  // form that an earlier step has made and from which a reshard may start. A
  // source is a pair of two numbers:
  //  - the number of the step that has made the form, counted from 1; 0 for the
  //    value itself
  //  - the index in `reform` of the costs of reshards from this source: 0 for
  //    the value itself, i + 1 for form i
  std::vector<std::pair<size_t, size_t>> sources{{0, 0}};
  for (size_t form : sequence) {
    std::pair<size_t, size_t> source = sources.front();
    for (const auto &other : sources)
      if (reform[other.second][form] < reform[source.second][form])
        source = other;
    order.cost += reform[source.second][form];
    order.steps.push_back({form, source.first});
    if (!reform[form + 1].empty())
      sources.push_back({order.steps.size(), form + 1});
  }
  return order;
}

ReshardOrder
plan::cheapestReshardOrder(const std::vector<std::vector<plan::Cost>> &reform,
                           size_t mostOrdered) {
  assert(!reform.empty() && reform.size() == reform.front().size() + 1 &&
         "a row for the value and for each form");
  std::vector<size_t> sequence(reform.front().size());
  std::iota(sequence.begin(), sequence.end(), 0);
  ReshardOrder best = priceOrder(reform, sequence);
  // The sequence is sorted, so next_permutation visits all permutations.
  while (sequence.size() <= mostOrdered &&
         std::next_permutation(sequence.begin(), sequence.end()))
    if (ReshardOrder other = priceOrder(reform, sequence);
        other.cost < best.cost)
      best = std::move(other);
  return best;
}
