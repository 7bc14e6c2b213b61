//===- ReshardOrder.cpp - order of the reshards of one value --------------===//

#include "passes/plan/search/ReshardOrder.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace pcc;
using plan::ReshardOrder;

namespace {
/// Source of a reshard of a value. A form is a sharding of the value. A
/// sequence of reshards makes several forms of the value. The source of a
/// reshard is the value itself, or a form that an earlier reshard of the
/// sequence has made. For example, the first reshard makes form 2 from the
/// value itself. The second reshard can then start from the value itself or
/// from form 2. A form from which no reshard may start is not a source.
struct ReshardSource {
  /// Number of the step that has made the form, if the source is a form. A step
  /// is one reshard. Steps are counted from 1. For example, `step` is 1 if the
  /// first reshard has made the form. `step` is 0 if the source is the value
  /// itself.
  size_t step;
  /// Index into `reform`, which has the costs of all reshards. reform[row][to]
  /// is the cost of the reshard from this source to form `to`. `row` is 0 if
  /// the source is the value itself. `row` is i + 1 if the source is form i.
  size_t row;
};
} // namespace

/// Returns the steps that make several forms of a value, and the sum of the
/// costs of the steps. A form is a sharding of the value, given by its number.
/// `sequence` lists the numbers of the forms in the order in which the steps
/// make them. Each step is one reshard, from the cheapest source. A source is
/// the value itself or a form that an earlier step has made. `reform` gives the
/// costs of the reshards:
///  - reform[0][to] is the cost of the reshard from the value itself to form
///    `to`.
///  - reform[i + 1][to] is the cost of the reshard from form i to form `to`. If
///    the list reform[i + 1] is empty, no reshard may start from form i.
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
