//===- DividedWeights.cpp - choice of weights to shard --------------------===//

#include "passes/plan/search/DividedWeights.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace pcc;
using plan::Savings;

namespace {
/// Chooses weights that are divided among ranks, as in ZeRO, until each rank
/// saves enough memory. At the end, removes chosen weights that are not needed.
/// needs[p] is the number of bytes that each rank with pipeline rank p must
/// still save.
class WeightChooser {
public:
  WeightChooser(const std::vector<Savings> &weights, std::vector<int64_t> needs)
      : weights(weights), needs(std::move(needs)),
        isChosen(weights.size(), false) {}

  std::vector<size_t> run() {
    for (size_t position = 0; position < needs.size(); ++position)
      for (size_t weight : coverOf(position))
        take(weight, true);
    for (size_t i = 0; i < weights.size(); ++i)
      if (isChosen[i] && isSpare(i))
        take(i, false);
    std::vector<size_t> chosen;
    for (size_t i = 0; i < weights.size(); ++i)
      if (isChosen[i])
        chosen.push_back(i);
    return chosen;
  }

private:
  /// Returns weights that are not chosen yet and together save at least
  /// needs[position] bytes on each rank with pipeline rank `position`. If all
  /// these weights together save less, returns all that save bytes. Returns
  /// none if no bytes are needed.
  ///
  /// The heuristic is greedy. It visits the largest savings first. A weight is
  /// collected if the collected weights still save too little with it.
  /// Otherwise, the collected weights and this weight are a solution. The
  /// function returns the solution that saves the fewest bytes.
  std::vector<size_t> coverOf(size_t position) const {
    std::vector<size_t> order, taken, best;
    for (size_t i = 0; i < weights.size(); ++i)
      if (!isChosen[i] && weights[i][position] > 0)
        order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return weights[a][position] > weights[b][position];
    });
    int64_t saved = 0, least = std::numeric_limits<int64_t>::max();
    for (size_t i : order) {
      const int64_t own = weights[i][position];
      if (saved + own < needs[position]) {
        taken.push_back(i);
        saved += own;
      } else if (needs[position] > 0 && saved + own < least) {
        least = saved + own;
        best = taken;
        best.push_back(i);
      }
    }
    return best.empty() && needs[position] > 0 ? taken : best;
  }

  /// Returns whether a chosen weight can stay whole on each rank. A chosen
  /// weight is divided among ranks to save memory. The weight can stay whole if
  /// the other chosen weights save enough. The function checks this for every
  /// pipeline rank on which the weight saves memory.
  bool isSpare(size_t weight) const {
    for (size_t position = 0; position < needs.size(); ++position)
      if (weights[weight][position] > 0 &&
          needs[position] + weights[weight][position] > 0)
        return false;
    return true;
  }

  /// Marks a weight as divided among ranks, or as whole if `takes` is false.
  /// Updates needs[p], the bytes that each rank with pipeline rank p must still
  /// save.
  void take(size_t weight, bool takes) {
    isChosen[weight] = takes;
    for (size_t position = 0; position < needs.size(); ++position)
      needs[position] += (takes ? -1 : 1) * weights[weight][position];
  }

  const std::vector<Savings> &weights;
  std::vector<int64_t> needs; ///< remaining needs; negative: more is saved
  std::vector<bool> isChosen;
};
} // namespace

std::vector<size_t>
plan::chooseDividedWeights(const std::vector<Savings> &weights,
                           const std::vector<int64_t> &needs) {
  assert(std::all_of(
             weights.begin(), weights.end(),
             [&](const Savings &own) { return own.size() == needs.size(); }) &&
         "one number per position");
  return WeightChooser(weights, needs).run();
}
