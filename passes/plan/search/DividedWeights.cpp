//===- DividedWeights.cpp - choice of weights to shard --------------------===//

#include "passes/plan/search/DividedWeights.h"

#include <algorithm>
#include <cassert>
#include <limits>

using namespace pcc;
using plan::Savings;

namespace {
/// Chooses the weights that are divided among ranks, so that each rank saves
/// enough memory. A pipeline position is a group of ranks that run the same
/// pipeline stages. The class visits the positions one after another. For each
/// position, it chooses further weights until each rank of the position saves
/// enough, or until there are no further weights. At the end, it removes chosen
/// weights that are not needed.
///
/// needs[p] is the number of bytes that each rank of position p must still
/// save. For example, a rank of position p must save 10 bytes. If the chosen
/// weights save 8 bytes, needs[p] is 2. If the chosen weights save 12 bytes,
/// needs[p] is -2.
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
  /// Returns further weights that together save at least needs[position] bytes
  /// on a rank of the pipeline position `position`. If all weights save too
  /// little, the result has all that save bytes. If needs[position] is not
  /// positive, it is empty. The function visits the weights with the largest
  /// savings first. If the list and the visited weight save too little, the
  /// weight joins the list. Otherwise, they are a solution. The result is the
  /// solution that saves the fewest bytes. Example for a need of 10 and weights
  /// of 8, 7, 4 and 2 bytes: the list is {8}, and the solutions save 15, 12 and
  /// 10. The result is {8, 2}.
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
  /// pipeline position (a group of ranks that run the same pipeline stages) on
  /// which the weight saves memory.
  bool isSpare(size_t weight) const {
    for (size_t position = 0; position < needs.size(); ++position)
      if (weights[weight][position] > 0 &&
          needs[position] + weights[weight][position] > 0)
        return false;
    return true;
  }

  /// Marks a weight as divided among ranks if `takes` is true, or as not
  /// divided if `takes` is false. needs[p] is the number of bytes that a rank
  /// of pipeline position p must still save. A pipeline position is a group of
  /// ranks that run the same pipeline stages. If the weight is divided, each
  /// rank of position p saves weights[weight][p] bytes, and the function
  /// subtracts this number from needs[p]. If `takes` is false, the function
  /// adds this number to needs[p].
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
