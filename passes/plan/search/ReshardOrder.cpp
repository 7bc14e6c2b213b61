//===- ReshardOrder.cpp - order of the reshards of one value --------------===//

#include "passes/plan/search/ReshardOrder.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace pcc;
using plan::ReshardOrder;

/// Returns the cost of making the forms (shardings) of a value in the order
/// `sequence`. Each form is made from the cheapest source: the value itself or
/// an earlier form. `exists` lists the sources so far, as row numbers of
/// `reform`: 0 is the value itself, i + 1 is form i.
static ReshardOrder
priceOrder(const std::vector<std::vector<plan::Cost>> &reform,
           const std::vector<size_t> &sequence) {
  ReshardOrder order;
  std::vector<size_t> exists{0};
  for (size_t form : sequence) {
    size_t source = 0;
    for (size_t other = 1; other < exists.size(); ++other)
      if (reform[exists[other]][form] < reform[exists[source]][form])
        source = other;
    order.cost += reform[exists[source]][form];
    order.steps.push_back({form, source});
    exists.push_back(form + 1);
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
