//===- ReshardOrder.cpp - order of the reshards of one value --------------===//

#include "passes/plan/search/ReshardOrder.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace pcc;
using plan::ReshardOrder;

namespace {
/// Source of a reshard: the value itself, or a form that an earlier step has
/// made and from which a reshard may start. A form is a sharding of the value.
struct ReshardSource {
  /// Number of the step that has made the form, from 1; 0 for the value itself.
  size_t step;
  /// Index in `reform` of the costs of reshards from this source: 0 for the
  /// value itself, i + 1 for form i.
  size_t row;
};
} // namespace

/// Returns the steps that make the forms of a value in the order `sequence`,
/// and the sum of their costs. A form is a sharding of the value. A source is
/// the value itself or a form that an earlier step has made. Each step makes a
/// form from the cheapest source. reform[s][form] is the cost of making `form`
/// from source s. ReshardSource 0 is the value itself. ReshardSource i + 1 is
/// form i.
static ReshardOrder
priceOrder(const std::vector<std::vector<plan::Cost>> &reform,
           const std::vector<size_t> &sequence) {
  ReshardOrder order;
  std::vector<ReshardSource> sources{{.step = 0, .row = 0}};
  for (size_t form : sequence) {
    ReshardSource cheapest = sources.front();
    for (const ReshardSource &other : sources)
      if (reform[other.row][form] < reform[cheapest.row][form])
        cheapest = other;
    order.cost += reform[cheapest.row][form];
    order.steps.push_back({form, cheapest.step});
    if (!reform[form + 1].empty())
      sources.push_back({.step = order.steps.size(), .row = form + 1});
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
