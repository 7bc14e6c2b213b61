//===- ReshardOrder.cpp - order of the reshards of one value --------------===//

#include "passes/plan/search/ReshardOrder.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace pcc;
using plan::ReshardOrder;

namespace {
/// Source of a reshard: the value itself, or a sharding of the value that an
/// earlier reshard of a sequence has made. For example, the first reshard makes
/// sharding 2 from the value itself. The second reshard can start from the
/// value itself or from sharding 2. If no reshard may start from a sharding, it
/// is not a source.
struct ReshardSource {
  /// Number of the reshard that has made the source, counted from 1. For
  /// example, `step` is 1 if the first reshard of the sequence has made it.
  /// `step` is 0 if the source is the value itself.
  size_t step;
  /// Index into `reform`, which has the costs of all reshards. reform[row][to]
  /// is the cost of the reshard from this source to sharding number `to`. `row`
  /// is 0 if the source is the value itself. `row` is i + 1 if the source is
  /// sharding i.
  size_t row;
};
} // namespace

/// Returns the reshards that make shardings of a value in the order `sequence`,
/// and the sum of their costs. Each reshard starts from the cheapest source. A
/// source is the value itself (costs in reform[0]) or a sharding i that an
/// earlier reshard has made (costs in reform[i + 1]). If reform[i + 1] is
/// empty, sharding i is no source.
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
  // At the beginning, `sequence` is sorted. next_permutation therefore visits
  // all orders of the reshards. If there are more than `mostOrdered` reshards,
  // `best` stays the plan for the sorted order.
  while (sequence.size() <= mostOrdered &&
         std::next_permutation(sequence.begin(), sequence.end()))
    if (ReshardOrder other = priceOrder(reform, sequence);
        other.cost < best.cost)
      best = std::move(other);
  return best;
}
